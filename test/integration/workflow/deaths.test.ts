import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../../../src/core/db/database';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import type { TestEngine } from '../../support/test-engine';
import { WorkflowProbe, type ProbeBoundary } from '../../../src/core/workflow/run/workflow-probe';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import {
  createLedger,
  ledger,
  newEngine,
  startOptions,
  stepRows,
  subject,
  taskRow,
} from '../../support/workflow-harness';
import { waitFor } from '../../support/wait-for';

let db: TestDatabase;
let database: Database;
const engines: TestEngine[] = [];
beforeAll(async () => {
  db = await startTestDatabase({ pool: 20 });
  ({ database } = db);
  await createLedger(database);
}, 60_000);
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});
afterAll(() => db.close());

const poisoned = (type: string) =>
  defineWorkflow(type, { version: 1, input: z.object({}), deadline: '10m' })
    .tx('before', {
      run: (c) => ledger.add(database, c.op, c.taskId, 'before'),
      undo: (c) => ledger.remove(database, c.op, c.taskId, 'before'),
    })
    .wait('between', { every: '1m', timeout: '10m', until: async () => Promise.resolve({}) })
    .tx('poison', {
      run: (c) => ledger.add(database, c.op, c.taskId, 'poison'),
      undo: (c) => ledger.remove(database, c.op, c.taskId, 'poison'),
    })
    .tx('after', { run: (c) => ledger.add(database, c.op, c.taskId, 'after'), noUndo: 'it is the last step' });

/** Counts how often a step begins. */
class Counting extends WorkflowProbe {
  readonly begun: string[] = [];
  override async at({ step, phase, point }: ProbeBoundary): Promise<void> {
    await Promise.resolve();
    if (point === 'before-effect') this.begun.push(`${phase}/${step}`);
  }
}

/** As a process leaves a task that ends with it: claimed, not given back, its lease over. */
const leaveAsDead = (id: string, deaths: number, more = ''): Promise<unknown> =>
  database.query(
    `UPDATE task SET owner = $2, lease_until = now() - interval '1 second', wake_at = now(), deaths = $3, fence = fence + 1 ${more} WHERE id = $1`,
    [id, `dead/${randomUUID()}`, deaths],
  );

const queued = async (type: string): Promise<{ id: string; engine: TestEngine; probe: Counting }> => {
  const definition = poisoned(type);
  const probe = new Counting();
  const engine = newEngine(database, [definition], { probe });
  engines.push(engine);
  const { id } = await database.tx((op) => engine.start(op, definition, {}, { ...startOptions, subject: subject() }));
  return { id, engine, probe };
};

it('takes a step up again after two deaths, and counts anew for the next', async () => {
  const { id, engine } = await queued('test.two-deaths');
  await leaveAsDead(id, 1, `, state = 'running', started_at = now(), deadline = now() + interval '10 minutes'`);
  await engine.start();
  expect(await engine.settled(id)).toBe('succeeded');
  expect(await database.query('SELECT deaths FROM task WHERE id = $1', [id])).toEqual([{ deaths: 0 }]);
});

it('gives a step up with the third death, undoes what was done, and never begins it again', async () => {
  const { id, engine, probe } = await queued('test.three-deaths');
  await database.tx((op) => ledger.add(database, op, id, 'before'));
  await database.query(
    `INSERT INTO task_step (task_id, seq, name, phase, state, attempt, ended_at) VALUES ($1, 0, 'before', 'run', 'succeeded', 1, now()), ($1, 1, 'between', 'run', 'succeeded', 1, now())`,
    [id],
  );
  await leaveAsDead(
    id,
    2,
    `, state = 'running', cursor = 2, step = 'poison', started_at = now(), deadline = now() + interval '10 minutes'`,
  );
  await engine.start();
  expect(await engine.settled(id)).toBe('failed');
  expect(await taskRow(database, id)).toMatchObject({
    undone: true,
    error: { code: 'process_died', step: 'poison', message: expect.stringContaining('died 3 times') },
  });
  expect(probe.begun).not.toContain('run/poison');
  expect(await ledger.of(database, id)).toEqual([]);
  expect((await stepRows(database, id)).find((s) => s.name === 'poison' && s.phase === 'run')).toMatchObject({
    state: 'failed',
  });
});

it('leaves a task stuck whose undo took three processes with it, until an operator says go on', async () => {
  const { id, engine, probe } = await queued('test.deadly-undo');
  await database.tx((op) => ledger.add(database, op, id, 'before'));
  await database.query(
    `INSERT INTO task_step (task_id, seq, name, phase, state, attempt, ended_at) VALUES ($1, 0, 'before', 'run', 'succeeded', 1, now())`,
    [id],
  );
  await leaveAsDead(
    id,
    2,
    `, state = 'compensating', cursor = 0, outcome = 'failed', error = '{"code":"told_to","message":"told to fail","step":"poison","host":null,"hint":null}',
    started_at = now(), deadline = now() + interval '10 minutes', undo_deadline = now() + interval '10 minutes'`,
  );
  await engine.start();
  expect(await engine.settled(id)).toBe('stuck');
  expect(await taskRow(database, id)).toMatchObject({
    error: { code: 'told_to', hint: expect.stringContaining('died') },
  });
  expect(probe.begun).toEqual([]);
  await database.tx((op) => engine.retry(op, id));
  await waitFor('the task to end', async () => (await taskRow(database, id)).state === 'failed');
  expect(await ledger.of(database, id)).toEqual([]);
});
