import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { WorkflowLocks1764300100005 } from '../../../migrations/1764300100005-workflow-locks';
import { defineWorkflow } from '../../../src/core/workflow/definition/definition';
import { startTestDatabase } from '../../support/postgres';
import { newEngine, startOptions, subject } from '../../support/workflow-harness';

jest.setTimeout(180_000);

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
    for (const id of [holder, waiter]) expect(await e.settled(id)).toBe('succeeded');
    expect(await database.query('SELECT * FROM task_lock')).toEqual([]);
    await e.stop();
  } finally {
    await db.close();
  }
});
