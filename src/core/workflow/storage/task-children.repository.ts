import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import type { ChildOutcome } from '../definition/definition';

/** How far the children are that a step started. */
export interface ChildrenState {
  total: number;
  /** Not over yet; stuck ones too. */
  live: number;
  failed: number;
}

const live = `state NOT IN ('succeeded', 'failed', 'cancelled')`;

/**
 * Statements between a task and those that a step of it started. `step` is that step and its phase: `name/run` or
 * `name/undo`.
 */
@injectable()
export class TaskChildrenRepository {
  /**
   * Tells a parent that a child is over; in the transaction that ends the child. It is woken when all are, when one
   * failed, and at every tenth of them, so that its progress shows.
   */
  async over(op: Op, parentId: string, failed: boolean): Promise<void> {
    await op.query(
      `UPDATE task SET wake_seq = wake_seq + 1, children_left = GREATEST(children_left - 1, 0),
              wake_at = CASE WHEN lease_until IS NULL AND wake_at IS NOT NULL AND ($2 OR children_left <= 1 OR (children_left - 1) % GREATEST(children / 10, 1) = 0) THEN clock_timestamp() ELSE wake_at END
        WHERE id = $1 AND state IN ('running', 'compensating')`,
      [parentId, failed],
    );
  }

  async state(op: Op, parentId: string, step: string): Promise<ChildrenState> {
    const [row] = await op.query<ChildrenState>(
      `SELECT count(*)::int AS total, (count(*) FILTER (WHERE ${live}))::int AS live, (count(*) FILTER (WHERE state IN ('failed', 'cancelled')))::int AS failed
         FROM task_history WHERE parent_id = $1 AND parent_step = $2`,
      [parentId, step],
    );
    return row ?? { total: 0, live: 0, failed: 0 };
  }

  /** In the order of their start. */
  outcomes(op: Op, parentId: string, step: string): Promise<ChildOutcome[]> {
    return op.query<ChildOutcome>(
      `SELECT id, json_build_object('kind', subject_kind, 'id', subject_id, 'name', subject_name) AS subject, state,
              CASE WHEN error IS NOT NULL THEN json_strip_nulls(json_build_object('code', error->>'code', 'message', error->>'message', 'cause', error->>'cause')) END AS error
         FROM task_history WHERE parent_id = $1 AND parent_step = $2 ORDER BY created_at, id`,
      [parentId, step],
    );
  }

  /**
   * Asks those that are not over to stop. Takes their rows before the parent's, as their own ends do, so that nobody
   * waits in a circle.
   */
  async cancel(op: Op, parentId: string, step: string, reason: string): Promise<number> {
    const rows = await op.query(
      `UPDATE task SET cancel_requested_at = clock_timestamp(), cancel_by = $3, cancel_reason = $4, wake_seq = wake_seq + 1,
              wake_at = CASE WHEN lease_until IS NULL AND (wake_at IS NOT NULL OR lock_state = 'waiting') AND state <> 'stuck' THEN clock_timestamp() ELSE wake_at END
        WHERE id IN (SELECT id FROM task WHERE parent_id = $1 AND parent_step = $2 AND ${live} AND cancel_requested_at IS NULL ORDER BY id FOR UPDATE) RETURNING id`,
      [parentId, step, `task:${parentId}`, reason],
    );
    return rows.length;
  }
}
