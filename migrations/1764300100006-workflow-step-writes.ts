import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Steps are only written by a statement that has just written or locked the row of their task: the server need not look
 * for that row again at each of them. They still leave with it, whoever deletes it.
 */
export class WorkflowStepWrites1764300100006 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE task_step DROP CONSTRAINT task_step_task_id_fkey`);
    await q.query(`
      CREATE FUNCTION task_steps_leave() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        DELETE FROM task_step USING gone WHERE task_step.task_id = gone.id;
        RETURN NULL;
      END $$`);
    await q.query(
      `CREATE TRIGGER task_steps_leave AFTER DELETE ON task REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION task_steps_leave()`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
