import { z } from 'zod';
import { defineWorkflow, type WorkflowDefinition } from '../../../src/core/workflow/definition/definition';
import type { TestEngine } from '../../support/test-engine';
import { WorkflowProbe, type ProbeBoundary } from '../../../src/core/workflow/run/workflow-probe';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { dropThing, hostA, makeThing, newEngine, startOptions, subject } from '../../support/workflow-harness';
import { FakeNodes } from '../../support/fake-nodes';

jest.setTimeout(180_000);

/** Signals in all; each finds its task between the look that found nothing and the nap. */
const tries = 10_000;
/** A nap that is slept through lasts this long: longer than the test. */
const nap = '1h' as const;
const napMs = 3_600_000;
const input = z.object({ key: z.string() });

describe('a signal that comes while a task is about to sleep', () => {
  let db: TestDatabase;
  let engine: TestEngine | undefined;

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 30 });
  }, 60_000);
  afterAll(() => db.close());
  afterEach(async () => {
    await engine?.stop();
    engine = undefined;
    await db.database.query('TRUNCATE task, task_step, task_lock, outbox');
  });

  const open = async (
    definition: Parameters<typeof newEngine>[1][number],
    options: { nodes?: FakeNodes; probe?: WorkflowProbe },
  ): Promise<TestEngine> => {
    engine = newEngine(db.database, [definition], {
      ...options,
      settings: { concurrency: 16, outcomePollMs: napMs, outcomePollMaxMs: napMs },
    });
    await engine.start();
    return engine;
  };

  /** Every other signal has committed when the worker goes on to its nap; the others race with it. */
  const signal = async (n: number, send: () => Promise<unknown>): Promise<void> => {
    const sent = send();
    if (n % 2 === 0) await sent;
    else sent.catch(() => undefined);
  };

  /** Naps that nobody ends are found by their time: no task may be asleep for long while its signal has come. */
  const over = async (e: TestEngine, ids: readonly string[]): Promise<string[]> => {
    const states = await Promise.all(ids.map((id) => e.settled(id, 60_000)));
    return [...new Set(states)];
  };

  const begin = (
    e: TestEngine,
    definition: WorkflowDefinition<z.output<typeof input>, never>,
    count: number,
  ): Promise<string[]> =>
    db.database.tx(async (op) => {
      const ids: string[] = [];
      for (let i = 0; i < count; i += 1)
        ids.push((await e.start(op, definition, { key: `k${i}` }, { ...startOptions, subject: subject() })).id);
      return ids;
    });

  it(`is not slept over: wake, ${tries * 0.5} times`, async () => {
    const looks = 50;
    const seen = new Map<string, number>();
    let sent = 0;
    const waiting = defineWorkflow('test.woken', { version: 1, input, lock: (i) => i.key, deadline: '2h' }).wait(
      'signal',
      {
        until: async (c) => {
          const n = (seen.get(c.input.key) ?? 0) + 1;
          seen.set(c.input.key, n);
          if (n > looks) return {};
          await signal((sent += 1), () => e.wake(db.database.op, c.input.key));
          return undefined;
        },
        every: nap,
        timeout: '2h',
      },
    );
    const e = await open(waiting, {});
    const ids = await begin(e, waiting, (tries * 0.5) / looks);
    expect(await over(e, ids)).toEqual(['succeeded']);
    expect(sent).toBe(tries * 0.5);
  });

  it(`is not slept over: a host's report, ${tries * 0.4} times`, async () => {
    const nodes = new FakeNodes();
    const looks = 50;
    const asked = new Map<string, number>();
    let sent = 0;
    // Accepted, and reported as done before the worker sleeps; each question for the outcome finds it still at work,
    // and so on.
    const report = (key: string): Promise<void> => signal((sent += 1), () => e.onVerbDone(hostA, key));
    nodes.on('thing.make', async ({ key }) => {
      await report(key);
      return { done: false };
    });
    nodes.outcome = async <_, R>(_host: string, _verb: unknown, key: string) => {
      const n = (asked.get(key) ?? 0) + 1;
      asked.set(key, n);
      if (n >= looks) return { done: true as const, result: { made: 'x' } as R };
      await report(key);
      return { done: false as const };
    };
    const calling = defineWorkflow('test.reported', { version: 1, input, deadline: '2h' }).remote('make', {
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'x' }),
      undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'x' }) },
    });
    const e = await open(calling, { nodes });
    const ids = await begin(e, calling, (tries * 0.4) / looks);
    expect(await over(e, ids)).toEqual(['succeeded']);
    expect(sent).toBe(tries * 0.4);
  });

  it(`is not slept over: cancel, ${tries * 0.1} times`, async () => {
    let sent = 0;
    const probe = new (class extends WorkflowProbe {
      override async at({ taskId, point }: ProbeBoundary): Promise<void> {
        if (point === 'after-effect')
          await signal((sent += 1), () => db.database.tx((op) => e.cancel(op, taskId, 'test')));
      }
    })();
    const waiting = defineWorkflow('test.cancelled', { version: 1, input, deadline: '2h' }).wait('signal', {
      until: async () => undefined,
      every: nap,
      timeout: '2h',
    });
    const e = await open(waiting, { probe });
    const ids = await begin(e, waiting, tries * 0.1);
    expect(await over(e, ids)).toEqual(['cancelled']);
    expect(sent).toBe(tries * 0.1);
  });
});
