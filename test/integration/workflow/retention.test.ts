import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Op } from '../../../src/core/db/rows/op';
import { defineWorkflow, type WorkflowDefinition } from '../../../src/core/workflow/definition/definition';
import { TaskArchiveRepository } from '../../../src/core/workflow/archive/task-archive.repository';
import { TaskChildrenRepository } from '../../../src/core/workflow/storage/task-children.repository';
import { TaskLockRepository } from '../../../src/core/workflow/storage/task-lock.repository';
import { TaskRequestRepository } from '../../../src/core/workflow/storage/task-request.repository';
import { TaskRunRepository } from '../../../src/core/workflow/storage/task-run.repository';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import type { TestEngine } from '../../support/test-engine';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { dropThing, hostA, makeThing, newEngine, startOptions, subject } from '../../support/workflow-harness';
import { FakeNodes } from '../../support/fake-nodes';

jest.setTimeout(180_000);

/** Nodes of a plan, flat. */
interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)];

describe('tasks that are over', () => {
  let db: TestDatabase;
  let engine: TestEngine;
  let archive: TaskArchiveRepository;
  const asked = new Map<string, unknown[]>();

  const definition = defineWorkflow('test.kept', {
    version: 1,
    input: z.object({ fail: z.boolean(), id: z.string() }),
    deadline: '10m',
    lock: (i) => i.id,
    limit: 50,
  })
    .tx('claim', { run: async () => 'claimed', noUndo: 'nothing' })
    .remote('make', {
      verb: makeThing,
      node: () => hostA,
      args: () => ({ name: 'x' }),
      undo: { verb: dropThing, node: () => hostA, args: () => ({ name: 'x' }) },
    })
    .wait('ready', { until: async (c) => (c.attempt > 0 ? true : undefined), every: '1s', timeout: '1m' })
    .tx('end', {
      run: async (c) => {
        if (c.input.fail) throw new PermanentError('told_to', 'told to fail');
      },
      noUndo: 'nothing',
    });

  const several = defineWorkflow('test.several', {
    version: 1,
    input: z.object({}),
    deadline: '10m',
    lock: () => ['one', 'two'],
    whenLocked: 'wait',
    preempts: true,
  }).tx('end', { run: async () => undefined, noUndo: 'nothing' });
  const outputs = defineWorkflow('test.outputs', { version: 1, input: z.object({}), deadline: '10m' })
    .tx('value', { run: async () => ({ n: 1 }), noUndo: 'nothing' })
    .tx('none', { run: async () => undefined, noUndo: 'nothing' })
    .tx('again', {
      run: async (c) => {
        if (c.attempt === 1) throw new Error('not yet');
      },
      retry: { backoff: '10ms' },
      noUndo: 'nothing',
    })
    .tx('last', { run: async (c) => ({ of: c.out['value'] }), noUndo: 'nothing' });
  const one = defineWorkflow('test.one', {
    version: 1,
    input: z.object({ lock: z.string() }),
    deadline: '10m',
    lock: (i) => i.lock,
  }).wait('ready', { until: async (c) => (c.attempt > 1 ? true : undefined), every: '100ms', timeout: '1m' });

  /** One task that waits for two locks, of tasks that it ends, and another that waits for it. */
  const meet = async (): Promise<void> => {
    const begin = <I>(what: WorkflowDefinition<I, never>, input: I): Promise<{ id: string }> =>
      db.database.tx((op) => engine.start(op, what, input, { ...startOptions, subject: subject() }));
    const ids = [await begin(one, { lock: 'one' }), await begin(one, { lock: 'two' }), await begin(several, {})];
    for (const { id } of ids) expect(['cancelled', 'succeeded']).toContain(await engine.settled(id));
  };

  const run = async (fail: boolean): Promise<string> => {
    const { id } = await db.database.tx((op) =>
      engine.start(
        op,
        definition,
        { fail, id: randomUUID() },
        { ...startOptions, projectId: randomUUID(), subject: subject() },
      ),
    );
    expect(await engine.settled(id)).toBe(fail ? 'failed' : 'succeeded');
    return id;
  };

  /** Remembers each statement that names the engine's tables, with its last parameters. */
  const listen = (op: Op): void => {
    const plain = op.query.bind(op);
    op.query = (sql, params = []) => {
      if (/\btask(_step|_slot|_lock|_history)?\b/.test(sql) && !/EXPLAIN/.test(sql)) asked.set(sql, [...params]);
      return plain(sql, params);
    };
  };

  beforeAll(async () => {
    db = await startTestDatabase({ pool: 20 });
    archive = new TaskArchiveRepository(db.database);
    engine = newEngine(db.database, [definition, several, one, outputs], { nodes: new FakeNodes() });
    await engine.start();
  }, 60_000);
  afterAll(async () => {
    await engine.stop();
    await db.close();
  });

  it('show the steps that ended with them like the others, before and in the archive', async () => {
    const { id } = await db.database.tx((op) => engine.start(op, outputs, {}, { ...startOptions, subject: subject() }));
    expect(await engine.settled(id, 10_000)).toBe('succeeded');
    const steps = (): Promise<unknown> =>
      db.database.query(
        `SELECT s.seq, s.name, s.phase, s.state, s.attempt, s.output IS NOT NULL AS stored, s.output, s.host_id, s.error, s.call, s.accepted,
                s.started_at <= s.ended_at AND s.started_at >= t.started_at AND s.ended_at < t.ended_at + interval '1 second' AS within
           FROM task_step_history s JOIN task_history t ON t.id = s.task_id WHERE t.id = $1 ORDER BY s.started_at, s.seq`,
        [id],
      );
    const step = (seq: number, name: string, stored: boolean, output: unknown, attempt = 1): object => ({
      ...{ seq, name, phase: 'run', state: 'succeeded', attempt, stored, output },
      ...{ host_id: null, error: null, call: 0, accepted: false, within: true },
    });
    const expected = [
      step(0, 'value', true, { n: 1 }),
      step(1, 'none', false, null),
      step(2, 'again', false, null, 2),
      step(3, 'last', true, { of: { n: 1 } }),
    ];
    expect(await steps()).toEqual(expected);
    expect(await db.database.query('SELECT 1 FROM task WHERE id = $1 AND last_steps IS NOT NULL', [id])).toHaveLength(
      1,
    );
    await archive.archive(0);
    expect(await db.database.query('SELECT 1 FROM task WHERE id = $1', [id])).toEqual([]);
    expect(await steps()).toEqual(expected);
    await archive.prune(0);
  });

  it('go to the archive with their steps, are seen there, and are forgotten in the end', async () => {
    const [well, failed] = [await run(false), await run(true)];
    const seen = async (id: string): Promise<unknown> => ({
      task: await db.database.query(
        'SELECT id, type, state, error, undone, created_at, ended_at FROM task_history WHERE id = $1',
        [id],
      ),
      steps: await db.database.query('SELECT * FROM task_step_history WHERE task_id = $1 ORDER BY seq, phase', [id]),
    });
    const before = [await seen(well), await seen(failed)];
    expect(await archive.archive(3_600_000)).toBe(false);
    expect((await db.database.query('SELECT 1 FROM task')).length).toBe(2);
    await archive.archive(0);
    expect(await db.database.query('SELECT 1 FROM task')).toEqual([]);
    expect(await db.database.query('SELECT 1 FROM task_step')).toEqual([]);
    expect([await seen(well), await seen(failed)]).toEqual(before);
    expect(await engine.settled(failed, 0)).toBe('failed');
    await archive.prune(3_600_000);
    expect((await db.database.query('SELECT 1 FROM task_archive')).length).toBe(2);
    await archive.prune(0);
    expect(await db.database.query('SELECT 1 FROM task_history')).toEqual([]);
  });

  it('leaves what is not over where it is, stuck tasks too, and gives back lost places', async () => {
    await db.database.query(
      `INSERT INTO task (id, type, version, subject_kind, subject_id, subject_name, state, input, deadline_ms, created_by, created_at)
       SELECT gen_random_uuid(), 'test.kept', 1, 'thing', gen_random_uuid(), 'x', s, '{}', 1000, 'test', now() - interval '1 year' FROM unnest(ARRAY['stuck', 'queued']) s`,
    );
    await db.database.query(
      `INSERT INTO task_slot SELECT 'host/x', row_number() OVER (), id FROM task UNION ALL SELECT 'host/x', 9, gen_random_uuid()`,
    );
    await archive.archive(0);
    expect(await archive.freeLostSlots()).toBe(1);
    expect((await db.database.query('SELECT 1 FROM task')).length).toBe(2);
    expect((await db.database.query('SELECT 1 FROM task_slot')).length).toBe(2);
    await db.database.query('DELETE FROM task_slot');
    await db.database.query(
      `INSERT INTO task_step (task_id, seq, name, phase, state) SELECT id, 0, 'ready', 'run', 'running' FROM task`,
    );
    // As an operator does by hand: its steps leave with it.
    await db.database.query('DELETE FROM task');
    expect((await db.database.query('SELECT 1 FROM task_step')).length).toBe(0);
  });

  it('cost the engine nothing: with a million of them every statement of it reads a few rows by an index', async () => {
    const many = `SELECT gen_random_uuid(), 'test.kept', 1, gen_random_uuid(), 'thing', gen_random_uuid(), 'x', 'succeeded', '{}', 1000, 'test', now() - n * interval '1 second', now() - n * interval '1 second'`;
    await db.database.tx(async (op) => {
      await op.query('SET LOCAL statement_timeout = 0');
      const indexes = await op.query<{ indexdef: string; indexname: string }>(
        `SELECT indexdef, indexname FROM pg_indexes WHERE tablename = 'task' AND indexdef NOT LIKE '%UNIQUE%'`,
      );
      for (const { indexname } of indexes) await op.query(`DROP INDEX ${indexname}`);
      await op.query(
        `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, deadline_ms, created_by, created_at, ended_at) ${many} FROM generate_series(1, 1000000) n`,
      );
      for (const { indexdef } of indexes) await op.query(indexdef);
      await op.query('ANALYZE task');
    });

    const tx = db.database.tx.bind(db.database);
    db.database.tx = ((fn, within) => tx(async (op) => (listen(op), fn(op)), within)) as typeof db.database.tx;
    listen(db.database.op);
    const ids = [...(await Promise.all(Array.from({ length: 6 }, () => run(false)))), await run(true)];
    const { id } = await db.database.tx((op) =>
      engine.start(op, definition, { fail: false, id: 'cancelled' }, { ...startOptions, subject: subject() }),
    );
    await db.database.tx((op) => engine.cancel(op, id, 'test'));
    await engine.settled(id);
    await meet();
    await db.database.tx((op) => engine.wake(op, 'nothing'));
    await engine.onVerbDone(hostA, `${ids[0]}/make/run`);
    const [runs, requests, children] = [
      new TaskRunRepository(db.database),
      new TaskRequestRepository(db.database),
      new TaskChildrenRepository(),
    ];
    for (const atWork of [undefined, {}])
      expect(await runs.claim('test', ['test.kept@1'], 16, 1_000, atWork)).toEqual([]);
    await children.state(db.database.op, id, 'parts/run');
    await children.outcomes(db.database.op, id, 'parts/run');
    await children.cancel(db.database.op, id, 'parts/run', 'test');
    await children.over(db.database.op, id, true);
    expect(await requests.liveKeys()).toEqual([]);
    expect(await requests.stuckCount()).toBe(0);
    await requests.wakeWaiting([{ scope: `host/${hostA}`, slots: 4, count: 1 }]);
    await archive.archive(31_536_000_000);
    await archive.prune(31_536_000_000);
    await archive.freeLostSlots();
    await engine.part(TaskLockRepository).freeLost();
    expect(asked.size).toBeGreaterThan(20);

    /** What a statement does, and undoes again. One that cannot be repeated is only planned. */
    const planOf = (sql: string, params: unknown[], analyze: boolean): Promise<Plan[]> =>
      tx(async (op) => {
        const [row] = await op.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `EXPLAIN (${analyze ? 'ANALYZE, ' : ''}FORMAT JSON) ${sql}`,
          params,
        );
        throw Object.assign(new Error('rolled back'), { plan: row?.['QUERY PLAN'][0].Plan });
      }).catch((error: { plan?: Plan; code?: string }) => {
        if (error.code === '23505' && analyze) return planOf(sql, params, false);
        if (!error.plan) throw error;
        return flat(error.plan);
      });
    for (const [sql, params] of asked) {
      const plan = await planOf(sql, params, true);
      const read = plan.map(
        (node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
      );
      const wide = plan.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'task');
      expect({ sql, wide, most: Math.max(...read) <= 100 || read }).toEqual({ sql, wide: [], most: true });
    }
  });
});
