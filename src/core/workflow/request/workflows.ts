import type { Op } from '../../db/rows/op';
import type { WorkflowDefinition, WorkflowSubject } from '../definition/definition';
import type { TaskState } from '../definition/task-state';

export interface StartOptions {
  projectId: string | null;
  subject: WorkflowSubject;
  /** Principal id, or `system`. */
  createdBy: string;
  requestId?: string;
}

export interface StartedTask {
  id: string;
  /**
   * False when a live task of the same type already holds the lock key and the start joined it (only for types that
   * preempt).
   */
  created: boolean;
}

/** The engine's face to services. */
export abstract class Workflows {
  /**
   * Queues a task in the caller's transaction: the task exists exactly when that transaction commits. Throws 409
   * `task_running` (with `task`) when another live task holds the lock key and the definition does not preempt it.
   */
  abstract start<I>(
    op: Op,
    definition: WorkflowDefinition<I, never>,
    input: I,
    options: StartOptions,
  ): Promise<StartedTask>;
  /**
   * Asks a task to stop at its next boundary and undo. Without effect on one that is `over`, or that only goes forward and
   * has begun: `too_late`.
   */
  abstract cancel(op: Op, taskId: string, by: string): Promise<'asked' | 'too_late' | 'over'>;
  /** Makes waiting tasks of this lock key re-check their condition at once, after the transaction commits. */
  abstract wake(op: Op, lockKey: string): Promise<void>;
  /**
   * Resolves when the task reached a final state (succeeded, failed, cancelled) or is stuck, or after `timeoutMs`.
   * Returns the state.
   * @param first looks at its state, the first time: once no change of it can be missed any more
   */
  abstract settled(taskId: string, timeoutMs: number, first?: () => Promise<TaskState>): Promise<TaskState>;
}
