import { performance } from 'node:perf_hooks';
import type { Op } from '../../db/rows/op';
import type { AnyStep, Duration, StepContext, TxContext, UndoContext } from '../definition/definition';
import type { AnyDefinition } from '../definition/definition-registry';
import type { IntendedCall } from './intended-call';
import type { StepError } from '../definition/step-error';
import type { ClaimedTask, Hold, Seen, StepRow, StepWrite } from '../storage/task-row';
import { parseDuration } from '../definition/duration';
import type { TaskState } from '../definition/task-state';
import { LeaseLost } from '../storage/interruptions';

/** What a step came to: it is over, or the task went to sleep and the worker has nothing more to do with it. */
export type StepEnd = 'next' | 'asleep';

/** Processes that a step may take with it, whether by its doing or not. */
const mostDeaths = 3;

type Outputs = Record<string, unknown>;

/** What a worker knows of the task it runs: the row as last written by itself, its steps, and how long it may go on. */
export class RunState {
  readonly abort = new AbortController();
  readonly outputs: Outputs = {};
  state: TaskState;
  cursor: number;
  progress: number;
  wakeSeq: string;
  private cancelAsked: boolean;
  cancelReason: string | null;
  undoDeadline: number | null;
  error: StepError | null;
  outcome: 'failed' | 'cancelled' | null;
  /** On the clock of `performance.now()`; the watchdog aborts the run before it. */
  leaseEnd: number;
  lastEventAt = 0;
  /** Scopes of the limits under which this task holds a slot. */
  readonly slots = new Set<string>();
  /** It has all of its locks: nobody hands one over to it any more. */
  locked: boolean;
  /** Set after steps that shared a commit failed: from here on each has its own. */
  singly = false;
  /**
   * Calls to a node that are over; their checkpoints are written together with the next step's. Lost with the process,
   * they are asked again by their keys. `ended` on the clock of `performance.now()`.
   */
  carried: { write: StepWrite; ended: number }[] = [];
  /** Calls that were stored as begun with the steps before them: they are next. */
  intended: IntendedCall[] = [];
  private readonly rows = new Map<string, StepRow>();
  private readonly clockOffset: number;

  /** @param claimSentAt `performance.now()` before the claim was sent: the lease cannot have begun earlier */
  constructor(
    readonly task: ClaimedTask,
    readonly definition: AnyDefinition,
    readonly owner: string,
    claimSentAt: number,
    leaseMs: number,
  ) {
    this.state = task.state;
    this.cursor = task.cursor;
    this.progress = task.progress;
    this.wakeSeq = task.wakeSeq;
    this.cancelAsked = task.cancelled;
    this.cancelReason = task.cancelReason;
    this.undoDeadline = task.undoDeadline;
    this.error = task.error;
    this.outcome = task.outcome;
    this.locked = task.lockState !== 'waiting';
    this.leaseEnd = claimSentAt + leaseMs;
    this.clockOffset = task.now - performance.now();
  }

  /** It was asked to stop, and may: one that only goes forward does not once it has begun. */
  get cancelled(): boolean {
    return this.cancelAsked && this.cancellable;
  }

  get cancellable(): boolean {
    return this.definition.options.goesForward === undefined || (this.cursor === 0 && !this.row(0, 'run'));
  }

  /** The keys of its locks, while it has all of them and no other can come. */
  get locks(): readonly string[] | null {
    return this.locked ? this.task.lockKeys : null;
  }

  get steps(): AnyStep[] {
    return this.definition.steps;
  }

  /** The step that the task was claimed at has taken its process with it too often: it is not tried again. */
  get deadly(): boolean {
    const { deaths, state, cursor } = this.task;
    return deaths >= mostDeaths && this.state === state && this.cursor === cursor;
  }

  get hold(): Hold {
    return { taskId: this.task.id, owner: this.owner, fence: this.task.fence, state: this.state, cursor: this.cursor };
  }

  /** Milliseconds on the database's clock, carried on by this process's monotonic one. */
  now(): number {
    return performance.now() + this.clockOffset;
  }

  /** Throws when the lease is over or nearly so. Call before every effect. */
  assertHeld(): void {
    if (this.abort.signal.aborted || performance.now() >= this.leaseEnd) throw new LeaseLost(this.task.id);
  }

  load(rows: StepRow[], slots: string[]): void {
    for (const row of rows) this.remember(row);
    for (const scope of slots) this.slots.add(scope);
  }

  /** A row of a step as it was stored. */
  private remember(row: StepRow): void {
    this.rows.set(`${row.seq}/${row.phase}`, row);
    if (row.phase === 'run' && row.state === 'succeeded')
      this.outputs[row.name] = row.hasOutput ? row.output : undefined;
  }

  /** A row of a step as this worker wrote it. */
  wrote(write: StepWrite): void {
    const before = this.row(write.seq, write.phase);
    this.remember({
      seq: write.seq,
      name: write.name,
      phase: write.phase,
      state: write.state,
      attempt: write.attempt,
      hostId: write.hostId ?? before?.hostId ?? null,
      accepted: write.accepted ?? false,
      call: write.call ?? 0,
      hasOutput: write.output !== undefined,
      output: write.output,
      startedAt: before?.startedAt ?? this.now(),
    });
  }

  /** Number of the attempt that comes next, from 1. */
  nextAttempt(seq: number, phase: 'run' | 'undo'): number {
    return (this.row(seq, phase)?.attempt ?? 0) + 1;
  }

  /** End of a step on the database's clock: its own timeout or the task's, whichever comes first. */
  deadlineOf(seq: number, timeout: Duration | undefined): number {
    const started = this.row(seq, 'run')?.startedAt ?? this.now();
    return Math.min(this.task.deadline, timeout ? started + parseDuration(timeout) : Number.POSITIVE_INFINITY);
  }

  /** End of the time for undoing, on the database's clock. */
  get undoUntil(): number {
    return this.undoDeadline ?? Number.POSITIVE_INFINITY;
  }

  /** Of the whole task, in percent, once the steps below `cursor` are over. */
  progressAt(cursor: number): number {
    return Math.floor((100 * cursor) / this.steps.length);
  }

  /** Returns the way back to what is known now, for a transaction that may be rolled back. */
  snapshot(): () => void {
    const { state, cursor, progress, wakeSeq, cancelAsked, cancelReason, lastEventAt } = this;
    const rows = new Map(this.rows);
    const outputs = { ...this.outputs };
    return () => {
      Object.assign(this, { state, cursor, progress, wakeSeq, cancelAsked, cancelReason, lastEventAt });
      this.rows.clear();
      for (const [key, row] of rows) this.rows.set(key, row);
      for (const name of Object.keys(this.outputs)) if (!(name in outputs)) delete this.outputs[name];
    };
  }

  /** The last step that has begun, -1 without one. Calls may have been sent with that of the step that is at work. */
  get lastStarted(): number {
    const started = [...this.rows.values()].filter((row) => row.phase === 'run' && row.state !== 'skipped');
    return Math.max(-1, ...started.map((row) => row.seq));
  }

  /** It is known that the step has not begun, though it was stored so. */
  notBegun(seq: number): void {
    this.rows.delete(`${seq}/run`);
  }

  row(seq: number, phase: 'run' | 'undo'): StepRow | undefined {
    return this.rows.get(`${seq}/${phase}`);
  }

  saw(seen: Seen): void {
    this.wakeSeq = seen.wakeSeq;
    this.cancelAsked = seen.cancelled;
    this.cancelReason = seen.cancelReason;
  }

  stepContext(attempt: number): StepContext<unknown, Outputs> {
    return { taskId: this.task.id, projectId: this.task.projectId, input: this.task.input, out: this.outputs, attempt };
  }

  txContext(op: Op, attempt: number): TxContext<unknown, Outputs> & UndoContext<unknown, Outputs> {
    return { ...this.stepContext(attempt), op };
  }
}
