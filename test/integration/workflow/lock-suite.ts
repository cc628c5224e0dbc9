import { z } from 'zod';
import type { WorkflowOptions } from '../../../src/core/workflow/definition/definition';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import type { TestEngine } from '../../support/test-engine';
import { waitFor } from '../../support/wait-for';
import { newEngine, startOptions, subject, taskRow } from '../../support/workflow-harness';

export const lockInput = z.object({ name: z.string(), keys: z.array(z.string()) });
type Input = z.infer<typeof lockInput>;

/**
 * Engines and workflows whose tasks need the locks that their input names, on a database of their own for the suite that
 * calls it. After every test no lock is held, no task lives, and there was no deadlock.
 */
export const lockSuite = () => {
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
  });
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
    defineWorkflow(type, { version: 1, input: lockInput, deadline: '1m', lock: (i) => i.keys, ...rules })
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
  return {
    db: () => db,
    open,
    guarded,
    refusing,
    patient,
    removal,
    forward,
    engine,
    start,
    begun,
    story,
    held,
    queued,
  };
};
