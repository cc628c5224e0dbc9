import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Turns between projects and priorities, limits over all processes, child tasks. */
export class WorkflowTurns1764300100002 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE task
        ADD COLUMN priority smallint NOT NULL DEFAULT 1 CHECK (priority BETWEEN 0 AND 2),
        ADD COLUMN waiting_for text,
        ADD COLUMN parent_id uuid,
        ADD COLUMN parent_step text,
        ADD COLUMN children int NOT NULL DEFAULT 0,
        ADD COLUMN children_left int NOT NULL DEFAULT 0`);
    await q.query(`COMMENT ON COLUMN task.priority IS '0 urgent, 1 normal, 2 background'`);
    await q.query(
      `COMMENT ON COLUMN task.waiting_for IS 'The limit that it waits to come under: the scope of a task_slot'`,
    );
    await q.query(
      `COMMENT ON COLUMN task.parent_step IS 'Step and phase of the parent that waits for it: step/run or step/undo'`,
    );
    await q.query(
      `COMMENT ON COLUMN task.children_left IS 'Of the children that the present step started, those that are not over'`,
    );
    await q.query(
      `CREATE INDEX task_new ON task (COALESCE(project_id, '00000000-0000-0000-0000-000000000000'), priority, wake_at) WHERE state = 'queued' AND waiting_for IS NULL AND wake_at IS NOT NULL`,
    );
    await q.query(`CREATE INDEX task_woken ON task (wake_at) WHERE state <> 'queued' AND wake_at IS NOT NULL`);
    await q.query(
      `CREATE INDEX task_waiting_for ON task (waiting_for, priority, created_at) WHERE waiting_for IS NOT NULL`,
    );
    await q.query(
      `CREATE INDEX task_children ON task (parent_id, parent_step, created_at, id) WHERE parent_id IS NOT NULL`,
    );
    await q.query(
      `CREATE TABLE task_slot (scope text NOT NULL, slot int NOT NULL, task_id uuid NOT NULL, PRIMARY KEY (scope, slot))`,
    );
    await q.query(`CREATE INDEX task_slot_task ON task_slot (task_id)`);
    await q.query(
      `COMMENT ON TABLE task_slot IS 'Places under a limit that tasks hold: host/<id> during a call, type/<type> while it is under way'`,
    );
  }

  async down(): Promise<void> {
    throw new Error('forward only');
  }
}
