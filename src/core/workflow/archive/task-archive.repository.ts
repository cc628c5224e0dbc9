import { injectable } from 'inversify';
import { Database } from '../../db/database';

/** Tasks that one statement moves or forgets at most, so that it never holds locks for long. */
const batch = 500;

const columns = `id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, cursor, progress, step, priority, wake_at, waiting_for,
  deadline, cancel_requested_at, cancel_by, cancel_reason, error, undone, parent_id, parent_step, children, children_left, created_by, request_id, created_at, started_at, ended_at`;

/** Where tasks go when they are over. */
@injectable()
export class TaskArchiveRepository {
  constructor(private readonly database: Database) {}

  /**
   * Moves tasks that have been over for so long, with their steps. Parts of a task stay as long as it does: it reads
   * what became of them. True when there may be more.
   */
  async archive(afterMs: number): Promise<boolean> {
    const rows = await this.database.query(
      `WITH over AS MATERIALIZED (
         SELECT id FROM task WHERE ended_at < now() - $1::float8 * interval '1 millisecond'
           AND (parent_id IS NULL OR NOT EXISTS (SELECT 1 FROM task p WHERE p.id = task.parent_id AND p.ended_at IS NULL))
          ORDER BY ended_at LIMIT ${batch} FOR UPDATE SKIP LOCKED),
       gone AS (DELETE FROM task USING over WHERE task.id = over.id RETURNING task.*)
       INSERT INTO task_archive (${columns}, steps)
       SELECT ${columns}, COALESCE((SELECT jsonb_agg(to_jsonb(s) ORDER BY s.started_at, s.seq) FROM task_step_history s WHERE s.task_id = gone.id), '[]'::jsonb) FROM gone
       RETURNING id`,
      [afterMs],
    );
    return rows.length === batch;
  }

  /** Forgets tasks that have been over for so long. True when there may be more. */
  async prune(afterMs: number): Promise<boolean> {
    const rows = await this.database.query(
      `DELETE FROM task_archive WHERE id IN (SELECT id FROM task_archive WHERE ended_at < now() - $1::float8 * interval '1 millisecond' ORDER BY ended_at LIMIT ${batch}) RETURNING id`,
      [afterMs],
    );
    return rows.length === batch;
  }

  /**
   * Gives back slots whose task is over or gone: nothing does so when an operator took such a task out of the database
   * by hand.
   */
  async freeLostSlots(): Promise<number> {
    return (
      await this.database.query(
        'DELETE FROM task_slot WHERE NOT EXISTS (SELECT 1 FROM task WHERE task.id = task_slot.task_id AND task.ended_at IS NULL) RETURNING task_id',
      )
    ).length;
  }
}
