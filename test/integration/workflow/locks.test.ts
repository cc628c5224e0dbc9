import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { WorkflowLocks1764300100005 } from '../../../migrations/1764300100005-workflow-locks';
import type { WorkflowOptions } from '../../../src/core/workflow/definition/definition';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { TaskArchiveRepository } from '../../../src/core/workflow/archive/task-archive.repository';
import { TaskLockRepository } from '../../../src/core/workflow/storage/task-lock.repository';
import { TaskRunRepository } from '../../../src/core/workflow/storage/task-run.repository';
import { TaskSlots } from '../../../src/core/workflow/run/task-slots';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import type { TestEngine } from '../../support/test-engine';
import { waitFor } from '../../support/wait-for';
import { newEngine, startOptions, subject, taskRow } from '../../support/workflow-harness';

jest.setTimeout(60_000);

const input = z.object({ name: z.string(), keys: z.array(z.string()) });
type Input = z.infer<typeof input>;

describe('tasks that need several locks', () => {
  let db: TestDatabase;
  const open = new Set<string>();
  const engines: TestEngine[] = [];
  const deadlocks: unknown[] = [];

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 40 });
    await db.database.query('CREATE TABLE inside (key text PRIMARY KEY, task_id uuid NOT NULL)');
    await db.database.query('CREATE TABLE story (n serial, name text NOT NULL, what text NOT NULL)');
    const tx = db.database.tx.bind(db.database);
    db.database.tx = ((fn, within) =>
      tx(fn, within).catch((error: { driverError?: { code?: string } }) => {
        if (error.driverError?.code === '40P01') deadlocks.push(error);
        throw error;
      })) as typeof db.database.tx;
  }, 60_000);
  afterAll(() => db.close());
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.stop();
    jest.restoreAllMocks();
    open.clear();
    const locks = await db.database.query('SELECT * FROM task_lock');
    const live = await db.database.query(
      'SELECT id, type, state, lock_keys, awaited_lock, wake_at, lease_until, has_waiter, cancel_requested_at FROM task WHERE ended_at IS NULL ORDER BY wake_at, id LIMIT 5',
    );
    await db.database.query('TRUNCATE task, task_step, task_slot, task_lock, inside, story');
    expect({ locks, live, deadlocks: deadlocks.splice(0) }).toEqual({ locks: [], live: [], deadlocks: [] });
  });

  /** Is inside of its locks until its name is opened. Two that are inside of the same lock fail by the table's key. */
  const guarded = (type: string, rules: Partial<WorkflowOptions<Input>> = {}) =>
    defineWorkflow(type, { version: 1, input, deadline: '1m', lock: (i) => i.keys, ...rules })
      .tx('begin', {
        run: async (c) => {
          await c.op.query('INSERT INTO story (name, what) VALUES ($1, $2)', [c.input.name, 'begins']);
          await c.op.query('INSERT INTO inside SELECT k, $2 FROM unnest($1::text[]) k', [c.input.keys, c.taskId]);
        },
        undo: async (c) => void (await c.op.query('DELETE FROM inside WHERE task_id = $1', [c.taskId])),
      })
      .wait('gate', {
        until: async (c) => (open.has(c.input.name) || open.has('all') ? true : undefined),
        every: '30ms',
        timeout: '1m',
      })
      .tx('end', {
        run: async (c) => {
          await c.op.query('DELETE FROM inside WHERE task_id = $1', [c.taskId]);
          await c.op.query('INSERT INTO story (name, what) VALUES ($1, $2)', [c.input.name, 'ends']);
        },
        noUndo: 'it is the last',
      });
  const refusing = guarded('test.refusing');
  const patient = guarded('test.patient', { whenLocked: 'wait' });
  const removal = guarded('test.removal', { preempts: true });
  const forward = guarded('test.forward', { goesForward: 'what is gone does not come back' });

  const engine = async (definitions: Parameters<typeof newEngine>[1] = [], settings = {}): Promise<TestEngine> => {
    const one = newEngine(db.database, [refusing, patient, removal, forward, ...definitions], { settings });
    engines.push(one);
    await one.start();
    return one;
  };
  const start = async (e: TestEngine, definition: typeof refusing, name: string, ...keys: string[]): Promise<string> =>
    db.database.tx(
      async (op) => (await e.start(op, definition, { name, keys }, { ...startOptions, subject: subject() })).id,
    );
  const begun = (name: string): Promise<boolean> =>
    waitFor(`"${name}" to begin`, async () => (await story()).includes(`${name} begins`));
  const story = async (): Promise<string[]> =>
    (await db.database.query<{ line: string }>(`SELECT name || ' ' || what AS line FROM story ORDER BY n`)).map(
      ({ line }) => line,
    );
  const held = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await db.database.query<{ key: string; task_id: string }>('SELECT * FROM task_lock')).map((row) => [
        row.key,
        row.task_id,
      ]),
    );
  const queued = (id: string, key: string): Promise<boolean> =>
    waitFor(`the queue for ${key}`, async () => (await taskRow(db.database, id)).awaited_lock === key);

  it('of two that want them in opposite order one is refused, or waits for the other', async () => {
    const e = await engine();
    for (let round = 0; round < 20; round += 1) {
      const results = await Promise.allSettled([
        start(e, refusing, `r${round}`, 'a', 'b'),
        start(e, refusing, `s${round}`, 'b', 'a'),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const waiting = await Promise.all([
        start(e, patient, `p${round}`, 'b', 'a'),
        start(e, patient, `q${round}`, 'a', 'b'),
      ]);
      open.add('all');
      for (const id of waiting) expect(await e.settled(id, 10_000)).toBe('succeeded');
      open.clear();
    }
  });

  it('takes all or nothing: a refusal names the lock and its task, and leaves the others free', async () => {
    const e = await engine();
    const first = await start(e, refusing, 'first', 'volume/b');
    // Who asked goes on with its transaction in spite of the refusal.
    const refused = await db.database.tx((op) =>
      e
        .start(op, refusing, { name: 'x', keys: ['volume/b', 'volume/a'] }, { ...startOptions, subject: subject() })
        .catch((error: unknown) => error),
    );
    expect(refused).toMatchObject({
      status: 409,
      code: 'task_running',
      extra: { task: { id: first, type: 'test.refusing' }, lock: 'volume/b' },
    });
    expect(await held()).toEqual({ 'volume/b': first });
    open.add('all');
    expect(await e.settled(first, 10_000)).toBe('succeeded');
    expect(await e.settled(await start(e, refusing, 'second', 'volume/a', 'volume/b'), 10_000)).toBe('succeeded');
  });

  it('says of which object the lock is that another has', async () => {
    const e = await engine();
    const [instance, volume] = [randomUUID(), randomUUID()];
    const first = await start(e, refusing, 'first', `volume/${volume}`, `instance/${instance}`);
    const refusal = (keys: string[], id: string): Promise<string> =>
      db.database
        .tx((op) =>
          e.start(
            op,
            refusing,
            { name: 'x', keys },
            { ...startOptions, subject: { ...subject(id), kind: 'instance' } },
          ),
        )
        .then(
          () => '',
          (error: Error) => error.message,
        );
    const text = `Task ${first} (test.refusing) is still at work on`;
    expect(await refusal([`volume/${volume}`], randomUUID())).toContain(`${text} volume ${volume}.`);
    expect(await refusal([`instance/${instance}`], instance)).toContain(`${text} this instance.`);
    open.add('all');
    await e.settled(first, 10_000);
  });

  it('one that waits for two leaves the free one to a third, and comes to both in the end', async () => {
    const e = await engine();
    const ids = [await start(e, patient, 'first', 'a')];
    await begun('first');
    ids.push(await start(e, patient, 'second', 'a', 'b'), await start(e, patient, 'third', 'b'));
    await begun('third');
    open.add('first');
    await queued(ids[1] ?? '', 'b');
    expect(await held()).toEqual({ a: ids[1], b: ids[2] });
    expect(await story()).toEqual(['first begins', 'third begins', 'first ends']);
    await expect(start(e, refusing, 'x', 'a')).rejects.toMatchObject({ extra: { task: { id: ids[1] }, lock: 'a' } });
    open.add('all');
    for (const id of ids) expect(await e.settled(id, 10_000)).toBe('succeeded');
    expect(await story()).toEqual([
      'first begins',
      'third begins',
      'first ends',
      'third ends',
      'second begins',
      'second ends',
    ]);
  });

  it('one that waits for two is not passed over by those that want one of them and come later', async () => {
    const e = await engine();
    const [a, b] = [await start(e, patient, 'a', 'a'), await start(e, patient, 'b', 'b')];
    const both = await start(e, patient, 'both', 'a', 'b');
    open.add('a');
    await queued(both, 'b');
    const later = [];
    for (let n = 0; n < 5; n += 1)
      later.push(await start(e, patient, `later${n}`, 'b'), await start(e, patient, `more${n}`, 'a'));
    open.add('all');
    for (const id of [a, b, both, ...later]) expect(await e.settled(id, 10_000)).toBe('succeeded');
    expect((await story()).filter((line) => line.endsWith('begins')).slice(0, 3)).toEqual([
      'a begins',
      'b begins',
      'both begins',
    ]);
  });

  it('a waiter that is cancelled gives back what it holds, and the next in the queue begins', async () => {
    const undone: string[] = [];
    const told = guarded('test.told', { whenLocked: 'wait', whenUndone: async (c) => void undone.push(c.input.name) });
    const e = await engine([told]);
    const b = await start(e, patient, 'b', 'b');
    const both = await start(e, told, 'both', 'a', 'b');
    expect(await held()).toMatchObject({ a: both });
    const next = await start(e, patient, 'next', 'a');
    expect(await db.database.tx((op) => e.cancel(op, both, 'me'))).toBe('asked');
    expect(await e.settled(both, 10_000)).toBe('cancelled');
    expect(undone).toEqual(['both']);
    await begun('next');
    open.add('all');
    for (const id of [b, next]) expect(await e.settled(id, 10_000)).toBe('succeeded');
    expect(await story()).not.toContain('both begins');
  });

  it('keeps no lock that is handed over while its waiter is cancelled', async () => {
    const e = await engine();
    open.add('all');
    const round = async (n: number): Promise<void> => {
      const [a, b] = [`a${n}`, `b${n}`];
      const first = await start(e, patient, 'first', a, b);
      const second = await start(e, patient, 'second', a, b);
      const third = await start(e, patient, 'third', b);
      await new Promise((resolve) => setTimeout(resolve, n % 40));
      await db.database.tx((op) => e.cancel(op, second, 'me'));
      expect(await e.settled(first, 20_000)).toBe('succeeded');
      expect(['cancelled', 'succeeded']).toContain(await e.settled(second, 20_000));
      expect(await e.settled(third, 20_000)).toBe('succeeded');
    };
    await Promise.all(Array.from({ length: 60 }, (_, n) => round(n)));
  });

  it('a removal preempts the holders of all of its locks at once', async () => {
    const e = await engine();
    const [a, b] = [await start(e, refusing, 'a', 'a'), await start(e, refusing, 'b', 'b')];
    await Promise.all([begun('a'), begun('b')]);
    const both = await start(e, removal, 'both', 'a', 'b');
    expect((await taskRow(db.database, b)).cancel_requested_at).not.toBeNull();
    expect(await start(e, removal, 'again', 'b', 'a')).toBe(both);
    open.add('both');
    for (const id of [a, b]) expect(await e.settled(id, 10_000)).toBe('cancelled');
    expect(await e.settled(both, 10_000)).toBe('succeeded');
    expect(await story()).toEqual(['a begins', 'b begins', 'both begins', 'both ends']);
  });

  it('a removal leaves both holders alone when one of them only goes forward', async () => {
    const e = await engine();
    const [a, b] = [await start(e, refusing, 'a', 'a'), await start(e, forward, 'b', 'b')];
    await Promise.all([begun('a'), begun('b')]);
    await expect(start(e, removal, 'both', 'a', 'b')).rejects.toMatchObject({
      code: 'task_running',
      extra: { task: { id: b }, lock: 'b' },
    });
    expect((await taskRow(db.database, a)).cancel_requested_at).toBeNull();
    open.add('all');
    for (const id of [a, b]) expect(await e.settled(id, 10_000)).toBe('succeeded');
  });

  it('a removal preempts one that holds a lock and waits for another, and whoever took its second meanwhile', async () => {
    const e = await engine();
    const b = await start(e, refusing, 'b', 'b');
    const waiter = await start(e, patient, 'waiter', 'a', 'b');
    await begun('b');
    const a = await start(e, removal, 'a', 'a');
    expect(await e.settled(waiter, 10_000)).toBe('cancelled');
    await begun('a');
    const both = await start(e, removal, 'both', 'a', 'c');
    const c = await start(e, refusing, 'c', 'c');
    expect(await e.settled(a, 10_000)).toBe('cancelled');
    // It finds the one that took its second lock when it comes to it.
    expect(await e.settled(c, 10_000)).toBe('cancelled');
    open.add('all');
    for (const id of [b, both]) expect(await e.settled(id, 10_000)).toBe('succeeded');
    expect(await story()).not.toContain('waiter begins');
  });

  it('a queue has a bound, and a removal gets past it', async () => {
    const e = await engine();
    const holder = await start(e, refusing, 'holder', 'a');
    const waiting = await Promise.all(Array.from({ length: 100 }, (_, n) => start(e, patient, `w${n}`, 'a')));
    await expect(start(e, patient, 'late', 'a')).rejects.toMatchObject({ status: 409, code: 'task_queue_full' });
    const first = await start(e, removal, 'removal', 'a');
    open.add('all');
    for (const id of [...waiting, first]) expect(await e.settled(id, 30_000)).toBe('succeeded');
    expect(await e.settled(holder, 10_000)).toBe('cancelled');
  });

  it('a removal of other locks does not join one of the same type', async () => {
    const e = await engine();
    const first = await start(e, removal, 'first', 'a', 'b');
    await begun('first');
    const second = await start(e, removal, 'second', 'b', 'c');
    expect(second).not.toBe(first);
    open.add('all');
    expect(await e.settled(first, 10_000)).toBe('cancelled');
    expect(await e.settled(second, 10_000)).toBe('succeeded');
  });

  it('a stuck task keeps all of its locks until it is abandoned, then they go to those who wait', async () => {
    let broken = true;
    const stuckable = defineWorkflow('test.stuckable', {
      version: 1,
      input,
      lock: (i) => i.keys,
      deadline: '200ms',
    }).tx('try', {
      run: () => Promise.reject(new PermanentError('no', 'no')),
      undo: () => (broken ? Promise.reject(new Error('cannot')) : Promise.resolve()),
    });
    const e = await engine([stuckable]);
    const stuck = await start(e, stuckable as never, 'stuck', 'a', 'b');
    // Neither one that only waits its turn nor a removal that was cancelled takes over from it.
    const waiter = await start(e, patient, 'waiter', 'b');
    const cancelled = await start(e, removal, 'cancelled', 'a', 'b');
    await db.database.tx((op) => e.cancel(op, cancelled, 'me'));
    expect(await e.settled(stuck, 10_000)).toBe('stuck');
    expect(await held()).toEqual({ a: stuck, b: stuck });
    await db.database.tx((op) => e.abandon(op, stuck));
    await begun('waiter');
    open.add('all');
    expect(await e.settled(waiter, 10_000)).toBe('succeeded');

    const again = await start(e, stuckable as never, 'again', 'a', 'b');
    expect(await e.settled(again, 10_000)).toBe('stuck');
    expect(await e.settled(await start(e, removal, 'over', 'b', 'c'), 10_000)).toBe('succeeded');
    expect(await taskRow(db.database, again)).toMatchObject({ state: 'failed', undone: false });
    broken = false;
  });

  /** One that was handed the first of its locks and finds the second free. Returns its id, not claimed yet. */
  const handedOne = async (e: TestEngine): Promise<string> => {
    const first = await start(e, patient, 'first', 'a');
    await e.start();
    await begun('first');
    const both = await start(e, patient, 'both', 'a', 'b');
    open.add('all');
    expect(await e.settled(first, 10_000)).toBe('succeeded');
    return both;
  };

  it('a worker that dies right before the taking has taken nothing, and another takes and goes on', async () => {
    const dying = newEngine(db.database, [patient], { settings: { leaseMs: 400 } });
    const real = dying.part(TaskLockRepository);
    const reached = new Promise<void>((resolve) => {
      jest.spyOn(real, 'heldBy').mockImplementation(() => {
        jest.spyOn(dying.part(TaskRunRepository), 'claim').mockResolvedValue([]);
        resolve();
        return new Promise(() => undefined);
      });
    });
    jest.spyOn(dying.part(TaskRunRepository), 'renew').mockResolvedValue([]);
    const both = await handedOne(dying);
    await reached;
    expect(await held()).toEqual({ a: both });
    const e = await engine();
    expect(await e.settled(both, 10_000)).toBe('succeeded');
    expect((await taskRow(db.database, both)).fence).toBe('2');
    void dying.stop();
  });

  it('a worker that lost its lease during the taking takes nothing', async () => {
    const late = newEngine(db.database, [patient], { settings: { leaseMs: 60_000 } });
    const store = late.part(TaskRunRepository);
    const locked = store.locked.bind(store);
    let refused: unknown;
    jest.spyOn(store, 'locked').mockImplementation(async (op, hold) => {
      // Meanwhile it is another's.
      await db.database.query(
        `UPDATE task SET owner = 'another', fence = fence + 1, lease_until = now() + interval '400 ms', wake_at = now() + interval '400 ms' WHERE id = $1`,
        [hold.taskId],
      );
      await locked(op, hold).catch((error: unknown) => {
        refused = error;
        throw error;
      });
    });
    const both = await handedOne(late);
    await waitFor('the refusal', () => refused !== undefined);
    expect(refused).toMatchObject({ name: 'LeaseLost' });
    await waitFor('the rollback', async () => Object.keys(await held()).length === 1);
    await late.stop();
    const e = await engine();
    expect(await e.settled(both, 10_000)).toBe('succeeded');
  });

  it('a worker that dies right after the taking leaves it to the next, who takes nothing twice', async () => {
    const dying = newEngine(db.database, [patient], { settings: { leaseMs: 400 } });
    const slots = dying.part(TaskSlots);
    const admitted = slots.admitted.bind(slots);
    const reached = new Promise<void>((resolve) => {
      jest.spyOn(slots, 'admitted').mockImplementation((run) => {
        if (run.task.lockKeys?.length !== 2) return admitted(run);
        jest.spyOn(dying.part(TaskRunRepository), 'claim').mockResolvedValue([]);
        resolve();
        return new Promise(() => undefined);
      });
    });
    jest.spyOn(dying.part(TaskRunRepository), 'renew').mockResolvedValue([]);
    const both = await handedOne(dying);
    await reached;
    expect(await held()).toEqual({ a: both, b: both });
    const e = await engine();
    const take = jest.spyOn(e.part(TaskLockRepository), 'take');
    expect(await e.settled(both, 10_000)).toBe('succeeded');
    expect(take).not.toHaveBeenCalled();
    expect((await taskRow(db.database, both)).fence).toBe('2');
    void dying.stop();
  });

  it('locks of a task that was taken out of the database by hand are freed and handed over', async () => {
    const e = await engine();
    const first = await start(e, refusing, 'first', 'a', 'b');
    await begun('first');
    const second = await start(e, patient, 'second', 'a', 'b');
    await waitFor('the pause', async () => (await taskRow(db.database, first)).owner === null);
    await db.database.query('WITH gone AS (DELETE FROM task WHERE id = $1) DELETE FROM inside', [first]);
    expect(await e.part(TaskLockRepository).freeLost()).toBe(2);
    open.add('all');
    expect(await e.settled(second, 20_000)).toBe('succeeded');
    await e.part(TaskArchiveRepository).archive(0);
    expect(await e.part(TaskLockRepository).freeLost()).toBe(0);
  });

  it('refuses more locks than a task may need', async () => {
    const e = await engine();
    const keys = Array.from({ length: 17 }, (_, n) => `k${n}`);
    await expect(start(e, refusing, 'many', ...keys)).rejects.toThrow('16 locks at most');
  });

  it('all end, and none is inside of the same lock as another, whatever is asked in whatever order', async () => {
    const [one, two] = [await engine(), await engine()];
    open.add('all');
    // Always the same numbers, so that a failure comes again.
    let seed = 4711;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const plans = Array.from({ length: 240 }, (_, n) => ({
      n,
      e: random(2) ? one : two,
      definition: [patient, patient, patient, refusing, removal][random(5)] ?? patient,
      keys: ['a', 'b', 'c', 'd'].filter(() => random(2) === 1),
      cancel: random(4) === 0,
    }));
    const lane = async (): Promise<void> => {
      for (let plan = plans.shift(); plan; plan = plans.shift()) {
        const { e, definition, keys, n, cancel } = plan;
        const id = await start(e, definition, `n${n}`, ...keys).catch((error: { code?: string }) => {
          expect(error.code).toBe('task_running');
        });
        if (!id) continue;
        if (cancel) await db.database.tx((op) => e.cancel(op, id, 'me'));
        else if (n % 3 === 0) expect(['succeeded', 'cancelled']).toContain(await e.settled(id, 30_000));
      }
    };
    await Promise.all(Array.from({ length: 12 }, lane));
    await waitFor(
      'all to end',
      async () => (await db.database.query('SELECT 1 FROM task WHERE ended_at IS NULL')).length === 0,
      30_000,
    );
    expect(await db.database.query(`SELECT error FROM task WHERE state NOT IN ('succeeded', 'cancelled')`)).toEqual([]);
  });
});

it('tasks that held a lock, or waited for one, when the database was upgraded go on in order', async () => {
  const db = await startTestDatabase({ pool: 10 });
  try {
    const { database } = db;
    // As the release before had it: one lock per task, in a column of its own.
    await database.query(`DROP VIEW task_history`);
    await database.query(`DROP TABLE task_lock`);
    await database.query(`ALTER TABLE task DROP COLUMN lock_keys, DROP COLUMN awaited_lock, ADD COLUMN lock_key text`);
    await database.query(`ALTER TABLE task_archive ADD COLUMN lock_key text, ADD COLUMN lock_state text`);
    await database.query(`CREATE VIEW task_history AS SELECT id, lock_key, lock_state FROM task`);
    const [holder, waiter, over] = [randomUUID(), randomUUID(), randomUUID()];
    await database.query(
      `INSERT INTO task (id, type, version, subject_kind, subject_id, subject_name, state, input, lock_key, lock_state, has_waiter, wake_at, ended_at, deadline_ms, created_by)
       SELECT id::uuid, 'test.old', 1, 'thing', gen_random_uuid(), 'x', state, '{}', 'thing/1', lock_state, lock_state IS NOT NULL AND lock_state = 'held', CASE lock_state WHEN 'held' THEN now() END,
              CASE WHEN lock_state IS NULL THEN now() END, 60000, 'test'
         FROM (VALUES ($1, 'queued', 'held'), ($2, 'queued', 'waiting'), ($3, 'succeeded', NULL)) v(id, state, lock_state)`,
      [holder, waiter, over],
    );
    await database.dataSource.transaction(({ queryRunner }) => {
      if (!queryRunner) throw new Error('a transaction has a runner');
      return new WorkflowLocks1764300100005().up(queryRunner);
    });
    expect(await database.query('SELECT * FROM task_lock')).toEqual([{ key: 'thing/1', task_id: holder }]);
    const old = defineWorkflow('test.old', {
      version: 1,
      input: z.object({}),
      deadline: '1m',
      lock: () => 'thing/1',
    }).tx('step', { run: async () => undefined, noUndo: 'nothing' });
    const e = newEngine(database, [old]);
    await expect(
      database.tx((op) => e.start(op, old, {}, { ...startOptions, subject: subject() })),
    ).rejects.toMatchObject({ extra: { task: { id: holder } } });
    await e.start();
    for (const id of [holder, waiter]) expect(await e.settled(id, 10_000)).toBe('succeeded');
    expect(await database.query('SELECT * FROM task_lock')).toEqual([]);
    await e.stop();
  } finally {
    await db.close();
  }
});
