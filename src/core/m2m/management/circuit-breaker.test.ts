import { CircuitBreaker } from './circuit-breaker';

describe('CircuitBreaker', () => {
  let now = 0;
  const make = (): CircuitBreaker => new CircuitBreaker(3, 1000, () => now);
  const failing = (breaker: CircuitBreaker, times: number): void => {
    for (let i = 0; i < times; i += 1) {
      expect(breaker.admit()).toBe(true);
      breaker.failure();
    }
  };

  it('opens after failures in a row only', () => {
    const breaker = make();
    failing(breaker, 2);
    breaker.success();
    failing(breaker, 2);
    expect(breaker.state).toBe('closed');
    failing(breaker, 1);
    expect(breaker.state).toBe('open');
    expect(breaker.admit()).toBe(false);
  });

  it('lets one probe through after its time, and opens again when that fails', () => {
    const breaker = make();
    failing(breaker, 3);
    now += 1000;
    expect(breaker.state).toBe('half-open');
    expect(breaker.admit()).toBe(true);
    expect(breaker.admit()).toBe(false);
    breaker.failure();
    expect(breaker.state).toBe('open');
    now += 1000;
    expect(breaker.admit()).toBe(true);
    breaker.success();
    expect(breaker.state).toBe('closed');
  });

  it('gives the probe back when its caller gave up, and takes a sign of life', () => {
    const breaker = make();
    failing(breaker, 3);
    breaker.nudge();
    expect(breaker.admit()).toBe(true);
    breaker.release();
    expect(breaker.admit()).toBe(true);
  });
});
