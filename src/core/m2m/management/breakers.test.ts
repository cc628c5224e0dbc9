import { Config } from '../../config/config';
import { coreConfigSchema } from '../../config/core-config';
import { Breakers } from './breakers';

describe('breakers', () => {
  const open = (): Breakers => {
    const breakers = new Breakers(new Config(coreConfigSchema.parse({ m2m: { breakerFailures: 1 } }), {}));
    breakers.heard('h', 'first');
    breakers.of('h').failure();
    expect(breakers.state('h')).toBe('open');
    return breakers;
  };

  it('let a call through to the new process of a node, once', () => {
    const breakers = open();
    breakers.heard('h', 'second');
    expect(breakers.state('h')).toBe('half-open');
    breakers.of('h').failure();
    breakers.heard('h', 'second');
    expect(breakers.state('h')).toBe('open');
  });

  it('stay open for a node that is heard and does not answer', () => {
    const breakers = open();
    breakers.heard('h', 'first');
    expect(breakers.state('h')).toBe('open');
  });

  it('know nothing of a node that was removed', () => {
    const breakers = open();
    breakers.forget('h');
    expect(breakers.state('h')).toBe('closed');
  });
});
