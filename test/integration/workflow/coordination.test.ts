import { z } from 'zod';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import type { TestEngine } from '../../support/test-engine';
import { TaskRunRepository } from '../../../src/core/workflow/storage/task-run.repository';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import {
  createLedger,
  dropThing,
  hostA,
  ledger,
  makeThing,
  newEngine,
  startOptions,
  stepRows,
  subject,
  taskRow,
} from '../../support/workflow-harness';
import { FakeNodes } from '../../support/fake-nodes';

const id = z.object({ id: z.string() });
const until = async (check: () => boolean | Promise<boolean>): Promise<void> => {
  const end = Date.now() + 15_000;
  while (!(await check())) {
    if (Date.now() > end) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

jest.setTimeout(180_000);

describe('workflows that meet', () => {
  let db: TestDatabase;
  let nodes: FakeNodes;
  const engines: TestEngine[] = [];

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 40 });
    await createLedger(db.database);
    await db.database.query('CREATE TABLE flag (key text PRIMARY KEY, up boolean NOT NULL)');
  });
  afterAll(() => db.close());
  beforeEach(() => void (nodes = new FakeNodes()));
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.stop();
    await db.database.query('TRUNCATE task, task_step, task_slot, task_lock, effect, flag');
  });

  const engine = async (definitions: Parameters<typeof newEngine>[1], settings = {}): Promise<TestEngine> => {
    const one = newEngine(db.database, definitions, { nodes, settings });
    engines.push(one);
    await one.start();
    return one;
  };

  const create = defineWorkflow('test.create', {
    version: 1,
    input: id,
    lock: (i) => i.id,
    deadline: '10m',
    whenUndone: (c) => ledger.add(db.database, c.op, c.taskId, 'gone'),
  })
    .tx('claim', {
      run: (c) => ledger.add(db.database, c.op, c.taskId, 'claim'),
      undo: (c) => ledger.remove(db.database, c.op, c.taskId, 'claim'),
    })
    .remote('make', {
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'x' }),
      undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'x' }) },
    });
  const remove = defineWorkflow('test.remove', {
    version: 1,
    input: id,
    lock: (i) => i.id,
    deadline: '10m',
    preempts: true,
  }).tx('remove', {
    run: (c) => ledger.add(db.database, c.op, c.taskId, 'removed'),
    noUndo: 'a removal',
  });

  it('a removal preempts the running create, waits for its undo, and then takes the lock', async () => {
    nodes.on('thing.make', () => ({ done: false }));
    let releaseUndo: () => void = () => undefined;
    const undoing = new Promise<void>((resolve) => (releaseUndo = resolve));
    nodes.on('thing.drop', async () => {
      await undoing;
      return { done: true, result: {} };
    });
    const e = await engine([create, remove], { outcomePollMs: 60_000, outcomePollMaxMs: 60_000 });
    const begin = <D extends typeof create | typeof remove>(definition: D) =>
      db.database.tx((op) => e.start(op, definition, { id: 'a' }, { ...startOptions, subject: subject() }));
    const first = await begin(create);
    await until(async () => nodes.calls.length === 1 && (await taskRow(db.database, first.id)).owner === null);
    const second = await begin(remove);
    expect(second.created).toBe(true);
    expect(await begin(remove)).toEqual({ id: second.id, created: false });
    await until(() => nodes.calls.some((c) => c.verb === 'thing.drop'));
    expect(await taskRow(db.database, second.id)).toMatchObject({
      state: 'queued',
      lock_state: 'waiting',
      wake_at: null,
    });
    await expect(begin(create)).rejects.toMatchObject({ code: 'task_running' });
    releaseUndo();
    expect(await e.settled(first.id)).toBe('cancelled');
    expect(await e.settled(second.id)).toBe('succeeded');
    expect(await ledger.of(db.database, first.id)).toEqual(['gone']);
    expect(await ledger.of(db.database, second.id)).toEqual(['removed']);
    expect((await begin(create)).created).toBe(true);
  });

  it('a removal that comes with the end of the create never waits for ever', async () => {
    const e = await engine([create, remove]);
    const rounds = Array.from({ length: 100 }, async (_, n) => {
      const key = `k${n}`;
      const begin = <D extends typeof create | typeof remove>(d: D) =>
        db.database.tx((op) => e.start(op, d, { id: key }, { ...startOptions, subject: subject() }));
      const first = await begin(create);
      if (n % 2) await new Promise((resolve) => setTimeout(resolve, n % 20));
      const second = await begin(remove);
      expect(['succeeded', 'cancelled']).toContain(await e.settled(first.id));
      expect(await e.settled(second.id)).toBe('succeeded');
    });
    await Promise.all(rounds);
  });

  it('a removal takes over from a stuck create, whichever came first', async () => {
    let undoFails = true;
    const stuckable = defineWorkflow('test.create', { version: 1, input: id, lock: (i) => i.id, deadline: '300ms' }).tx(
      'claim',
      {
        run: () => Promise.reject(new PermanentError('no', 'no')),
        undo: () => (undoFails ? Promise.reject(new Error('cannot')) : Promise.resolve()),
      },
    );
    const e = await engine([stuckable, remove]);
    const create1 = await db.database.tx((op) =>
      e.start(op, stuckable, { id: 'a' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(create1.id)).toBe('stuck');
    const remove1 = await db.database.tx((op) =>
      e.start(op, remove, { id: 'a' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(remove1.id)).toBe('succeeded');
    expect(await taskRow(db.database, create1.id)).toMatchObject({ state: 'failed', undone: false, lock_state: null });

    const create2 = await db.database.tx((op) =>
      e.start(op, stuckable, { id: 'b' }, { ...startOptions, subject: subject() }),
    );
    // Preempted before its first step it would have nothing to undo.
    await until(async () => !['queued', 'running'].includes((await taskRow(db.database, create2.id)).state));
    const remove2 = await db.database.tx((op) =>
      e.start(op, remove, { id: 'b' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(remove2.id)).toBe('succeeded');
    expect(await taskRow(db.database, create2.id)).toMatchObject({ state: 'failed', undone: false });
    undoFails = false;
  });

  it('a removal does not preempt what only goes forward, nor begin beside it', async () => {
    const going = defineWorkflow('test.going', {
      version: 1,
      input: id,
      lock: (i) => i.id,
      deadline: '10m',
      goesForward: 'what it takes away does not come back',
    }).remote('make', {
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'x' }),
      noUndo: 'it goes forward',
    });
    nodes.on('thing.make', () => ({ done: false }));
    const e = await engine([going, remove]);
    const first = await db.database.tx((op) =>
      e.start(op, going, { id: 'forward' }, { ...startOptions, subject: subject() }),
    );
    await waitFor('the call', () => nodes.calls.length > 0);
    await expect(
      db.database.tx((op) => e.start(op, remove, { id: 'forward' }, { ...startOptions, subject: subject() })),
    ).rejects.toMatchObject({ status: 409, code: 'task_running', extra: { task: { id: first.id } } });
    nodes.outcomes.set(`${first.id}/make/run`, { made: 'x' });
    expect(await e.settled(first.id)).toBe('succeeded');
  });

  it('can cancel a removal that still waits for its lock', async () => {
    nodes.on('thing.make', () => ({ done: false }));
    nodes.on('thing.drop', () => ({ done: false }));
    const e = await engine([create, remove]);
    const first = await db.database.tx((op) =>
      e.start(op, create, { id: 'a' }, { ...startOptions, subject: subject() }),
    );
    await until(() => nodes.calls.length === 1);
    const second = await db.database.tx((op) =>
      e.start(op, remove, { id: 'a' }, { ...startOptions, subject: subject() }),
    );
    expect(await db.database.tx((op) => e.cancel(op, second.id, 'me'))).toBe('asked');
    expect(await e.settled(second.id)).toBe('cancelled');
    nodes.outcomes.set(`${first.id}/make/undo`, {});
    expect(await e.settled(first.id)).toBe('cancelled');
  });

  const waiting = defineWorkflow('test.wait', { version: 1, input: id, lock: (i) => i.id, deadline: '10m' }).wait(
    'flag',
    {
      every: '1h',
      timeout: '2h',
      until: async (c) =>
        (await db.database.query('SELECT 1 FROM flag WHERE key = $1 AND up', [c.input.id], c.op)).length > 0
          ? 'up'
          : undefined,
    },
  );

  it('loses no wake-up in 1000 races between falling asleep and being woken', async () => {
    const e = await engine([waiting]);
    const race = async (n: number): Promise<void> => {
      const key = `w${n}`;
      const { id: taskId } = await db.database.tx((op) =>
        e.start(op, waiting, { id: key }, { ...startOptions, subject: subject() }),
      );
      if (n % 3) await new Promise((resolve) => setTimeout(resolve, n % 7));
      await db.database.tx(async (op) => {
        await db.database.query('INSERT INTO flag VALUES ($1, true)', [key], op);
        await e.wake(op, key);
      });
      expect(await e.settled(taskId)).toBe('succeeded');
    };
    const queue = Array.from({ length: 1000 }, (_, n) => n);
    const lane = async (): Promise<void> => {
      for (let n = queue.pop(); n !== undefined; n = queue.pop()) await race(n);
    };
    await Promise.all(Array.from({ length: 20 }, lane));
  });

  it('loses no report of a long verb that ends while the task falls asleep', async () => {
    const e = await engine([create], { outcomePollMs: 3_600_000, outcomePollMaxMs: 3_600_000 });
    nodes.on('thing.make', async (call) => {
      nodes.outcomes.set(call.key, { made: 'x' });
      setImmediate(() => void e.onVerbDone(hostA, call.key));
      return { done: false };
    });
    const ids = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        db.database.tx(
          async (op) => (await e.start(op, create, { id: `l${n}` }, { ...startOptions, subject: subject() })).id,
        ),
      ),
    );
    for (const taskId of ids) expect(await e.settled(taskId)).toBe('succeeded');
  });

  it('a wait has its timeout, and is cancelled while asleep', async () => {
    const short = defineWorkflow('test.short', { version: 1, input: id, deadline: '10m' }).wait('never', {
      every: '50ms',
      timeout: '200ms',
      until: async () => undefined,
    });
    const e = await engine([short, waiting]);
    const a = await db.database.tx((op) => e.start(op, short, { id: 'a' }, { ...startOptions, subject: subject() }));
    expect(await e.settled(a.id)).toBe('failed');
    expect(await taskRow(db.database, a.id)).toMatchObject({ error: { code: 'step_timeout', step: 'never' } });
    const b = await db.database.tx((op) => e.start(op, waiting, { id: 'b' }, { ...startOptions, subject: subject() }));
    await until(
      async () => (await taskRow(db.database, b.id)).owner === null && (await stepRows(db.database, b.id)).length === 1,
    );
    await db.database.tx((op) => e.cancel(op, b.id, 'me'));
    expect(await e.settled(b.id)).toBe('cancelled');
  });

  it('gives up at the deadline of the task', async () => {
    nodes.on('thing.make', () => ({ done: false }));
    const brief = defineWorkflow('test.brief', { version: 1, input: id, deadline: '500ms' }).remote('make', {
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'x' }),
      noUndo: 'nothing is made',
    });
    const e = await engine([brief]);
    const { id: taskId } = await db.database.tx((op) =>
      e.start(op, brief, { id: 'a' }, { ...startOptions, subject: subject() }),
    );
    expect(await e.settled(taskId)).toBe('failed');
    expect(await taskRow(db.database, taskId)).toMatchObject({ undone: true, error: { step: 'make' } });
  });

  it('a worker that cannot renew stops before its lease ends, and another goes on under a higher fence', async () => {
    let release: () => void = () => undefined;
    let first = true;
    nodes.on('thing.make', async () => {
      if (first) {
        first = false;
        await new Promise<void>((resolve) => (release = resolve));
      }
      return { done: true, result: { made: 'x' } };
    });
    const settings = { leaseMs: 3_000 };
    const a = await engine([create], settings);
    const store = a.part(TaskRunRepository);
    jest.spyOn(store, 'renew').mockResolvedValue([]);
    const { id: taskId } = await db.database.tx((op) =>
      a.start(op, create, { id: 'a' }, { ...startOptions, subject: subject() }),
    );
    await until(() => nodes.calls.length === 1);
    const b = await engine([create], settings);
    expect(await b.settled(taskId)).toBe('succeeded');
    const before = { row: await taskRow(db.database, taskId), steps: await stepRows(db.database, taskId) };
    expect(nodes.calls.map((c) => c.key)).toEqual([`${taskId}/make/run`, `${taskId}/make/run`]);
    expect(nodes.calls.map((c) => c.fence)).toEqual([1, 2]);
    release();
    await a.stop();
    expect({ row: await taskRow(db.database, taskId), steps: await stepRows(db.database, taskId) }).toEqual(before);
    jest.restoreAllMocks();
  });

  it('keeps a long call beyond the lease by renewing it', async () => {
    const leaseMs = 2_000;
    nodes.on('thing.make', async () => {
      await waitFor('two further leases', async () => {
        const [row] = await db.database.query<{ renewed: boolean }>(
          `SELECT lease_until > started_at + $1 * interval '1 millisecond' AS renewed FROM task`,
          [3 * leaseMs],
        );
        return row?.renewed;
      });
      return { done: true, result: { made: 'x' } };
    });
    const a = await engine([create], { leaseMs });
    await engine([create], { leaseMs });
    const { id: taskId } = await db.database.tx((op) =>
      a.start(op, create, { id: 'a' }, { ...startOptions, subject: subject() }),
    );
    expect(await a.settled(taskId)).toBe('succeeded');
    expect(nodes.calls).toHaveLength(1);
    expect((await taskRow(db.database, taskId)).fence).toBe('1');
  });
});
