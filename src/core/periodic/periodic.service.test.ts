import { pino } from 'pino';
import { Metrics } from '../telemetry/metrics';
import { Logging } from '../telemetry/logging';
import { PeriodicMetrics } from './periodic-metrics';
import type { PeriodicWork } from './periodic-work';
import { Periodic } from './periodic.service';

/** Ends when somebody says so, or at the signal. */
class Held {
  readonly begun: { end: () => void; fail: (error: Error) => void; signal: AbortSignal }[] = [];
  private waiting: (() => void) | undefined;

  readonly run = (signal: AbortSignal): Promise<void> =>
    new Promise((end, fail) => {
      signal.addEventListener('abort', () => fail(signal.reason as Error));
      this.begun.push({ end, fail, signal });
      this.waiting?.();
    });

  async nth(n: number): Promise<{ end: () => void; fail: (error: Error) => void; signal: AbortSignal }> {
    while (this.begun.length < n) await new Promise<void>((resolve) => (this.waiting = resolve));
    const run = this.begun[n - 1];
    if (!run) throw new Error('no such run');
    return run;
  }
}

describe('Periodic', () => {
  const lines: { msg: string; work?: string }[] = [];
  const metrics = new Metrics();
  const logging = new Logging(pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) }));
  let periodic: Periodic | undefined;

  const start = async (work: Partial<PeriodicWork> & Pick<PeriodicWork, 'run'>): Promise<Periodic> => {
    metrics.registry.clear();
    lines.splice(0);
    periodic = new Periodic(new PeriodicMetrics(metrics), logging);
    periodic.register([
      {
        periodicWork: () => [
          { name: 'test.work', everyMs: 1, scope: 'process', deadlineMs: 60_000, atStart: true, ...work },
        ],
      },
    ]);
    await periodic.start();
    return periodic;
  };
  const figure = async (name: string): Promise<number | undefined> => {
    const found = await metrics.registry.getSingleMetric(`vcstack_periodic_${name}`)?.get();
    return found?.values[0]?.value;
  };
  afterEach(() => periodic?.stop());

  it('never begins a run while one is under way, and begins the next after it', async () => {
    const held = new Held();
    await start(held);
    const first = await held.nth(1);
    // Many intervals of one millisecond.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(held.begun).toHaveLength(1);
    first.end();
    await held.nth(2);
    expect(await figure('runs_total')).toBe(1);
    expect(await figure('failures_total')).toBe(0);
    expect(await figure('last_run_seconds')).toBeGreaterThan(0);
    expect(Math.abs(((await figure('last_run_timestamp_seconds')) ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('goes on after failures, counts each and tells of the first and of the end of them', async () => {
    const held = new Held();
    await start(held);
    (await held.nth(1)).fail(new Error('no disk'));
    (await held.nth(2)).fail(new Error('no disk'));
    (await held.nth(3)).end();
    await held.nth(4);
    expect(await figure('failures_total')).toBe(2);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'periodic work failed; it is tried again',
      'periodic work goes well again',
    ]);
  });

  it('tells a run that its time is over, and counts it', async () => {
    const held = new Held();
    await start({ ...held, deadlineMs: 10 });
    const { signal } = await held.nth(1);
    await held.nth(2);
    expect((signal.reason as Error).message).toBe('it takes longer than it may');
    expect(await figure('failures_total')).toBeGreaterThan(0);
    expect(lines[0]?.msg).toBe('periodic work takes longer than it may');
  });

  it('tells once of work that is late again and again, and of the end of that', async () => {
    const held = new Held();
    await start({ ...held, deadlineMs: 10 });
    const { signal } = await held.nth(3);
    await held.nth(4);
    expect((signal.reason as Error).message).toBe('it takes longer than it may');
    (await held.nth(5)).fail(new Error('no disk'));
    const said = (): string[] => lines.map(({ msg }) => msg);
    for (let n = 6; !said().includes('periodic work goes well again'); n += 1) (await held.nth(n)).end();
    expect(said()).toEqual(['periodic work takes longer than it may', 'periodic work goes well again']);
    expect(await figure('failures_total')).toBeGreaterThan(2);
  });

  it('does not begin another beside a run that is deaf to its deadline', async () => {
    let begun = 0;
    let end = (): void => undefined;
    let told = (): void => undefined;
    const late = new Promise<void>((resolve) => (told = resolve));
    await start({
      deadlineMs: 10,
      run: (signal) => {
        begun += 1;
        signal.addEventListener('abort', told);
        return new Promise<void>((resolve) => (end = resolve));
      },
    });
    await late;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(begun).toBe(1);
    end();
  });

  it('tells what runs that the process stops, waits for it, and begins nothing more', async () => {
    const held = new Held();
    const service = await start(held);
    const { signal } = await held.nth(1);
    await service.stop();
    expect((signal.reason as Error).message).toBe('the process stops');
    expect(held.begun).toHaveLength(1);
    // Not its fault.
    expect(await figure('failures_total')).toBe(0);
  });

  it('refuses a name that is there twice, and cluster work where there is no cluster', () => {
    const work = { name: 'a.b', everyMs: 1, scope: 'process', deadlineMs: 1, run: async () => undefined } as const;
    metrics.registry.clear();
    const fresh = new Periodic(new PeriodicMetrics(metrics), logging);
    expect(() => fresh.register([{ periodicWork: () => [work, work] }])).toThrow('"a.b" is there twice');
    expect(() => fresh.register([{ periodicWork: () => [{ ...work, name: 'a.c', scope: 'cluster' }] }])).toThrow(
      'an agent stands alone',
    );
  });
});
