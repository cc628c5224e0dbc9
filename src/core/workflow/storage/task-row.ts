import type { StepError } from '../definition/step-error';
import type { TaskState } from '../definition/task-state';

/** A task as its worker got it. Times in milliseconds on the database's clock. */
export interface ClaimedTask {
  id: string;
  type: string;
  version: number;
  projectId: string | null;
  subject: { kind: string; id: string; name: string };
  state: TaskState;
  input: unknown;
  /** In the order in which they are taken; null without any. */
  lockKeys: string[] | null;
  /** `waiting`: it has not all of its locks. */
  lockState: 'held' | 'waiting' | null;
  /** Forward: index of the next step. Compensating: index of the next step to undo; -1 when none is left. */
  cursor: number;
  progress: number;
  fence: string;
  /** Processes that died, or froze for longer than their lease, while they had the task at its present step. */
  deaths: number;
  wakeSeq: string;
  deadline: number;
  deadlineMs: number;
  undoDeadline: number | null;
  cancelled: boolean;
  cancelReason: string | null;
  outcome: 'failed' | 'cancelled' | null;
  error: StepError | null;
  createdBy: string;
  requestId: string | null;
  priority: number;
  parentId: string | null;
  parentStep: string | null;
  createdAt: number;
  startedAt: number;
  /** The database's clock when it was claimed. */
  now: number;
}

export interface StepRow {
  seq: number;
  name: string;
  phase: 'run' | 'undo';
  state: 'running' | 'succeeded' | 'failed' | 'skipped';
  attempt: number;
  hostId: string | null;
  accepted: boolean;
  /**
   * Number of the call: part of its key. Raised when an undo goes on after a final failure, which the host keeps under
   * the old key.
   */
  call: number;
  hasOutput: boolean;
  output: unknown;
  startedAt: number;
}

/** Who a worker claims to be in every write. */
export interface Hold {
  taskId: string;
  owner: string;
  fence: string;
  /** State and cursor that the row has if nothing happened that this worker does not know of. */
  state: TaskState;
  cursor: number;
}

/**
 * What a task that goes to sleep waits for, beside time: a slot under a limit, or children (in all, and not over yet).
 */
export interface Awaits {
  scope?: string;
  /** Of the tasks that the present step started, those that are not over. */
  childrenLeft?: number;
  /** Of the task, in percent. */
  progress?: number;
}

/** What the task's row said when a fenced write succeeded. */
export interface Seen {
  wakeSeq: string;
  cancelled: boolean;
  cancelReason: string | null;
  hasWaiter: boolean;
}

export interface StepWrite {
  seq: number;
  name: string;
  phase: 'run' | 'undo';
  state: StepRow['state'];
  attempt: number;
  hostId?: string | null;
  accepted?: boolean;
  call?: number;
  /** Undefined: no output. */
  output?: unknown;
  /** For steps that are written after the fact. Milliseconds. */
  startedMsAgo?: number;
  endedMsAgo?: number;
  error?: StepError | null;
}
