import type { z } from 'zod';
import type { Op } from '../../db/rows/op';
import type { Verb } from '../../m2m/verbs/verb';

/** `250ms`, `30s`, `10m`, `2h`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`;

export interface RetryPolicy {
  /** Attempts in all, the first included. Default: until the step's or the task's deadline. */
  attempts?: number;
  /** First wait; doubles with jitter. Default 200ms. */
  backoff?: Duration;
  /** Longest wait between two attempts. Default 15s. */
  maxBackoff?: Duration;
}

/** What every callback of a workflow sees. `out` has the outputs of the steps before it. */
export interface StepContext<I, O> {
  readonly taskId: string;
  readonly projectId: string | null;
  readonly input: I;
  readonly out: Readonly<O>;
  readonly attempt: number;
}

/** A transactional callback: its writes through `op` and its checkpoint commit together, exactly once. */
export interface TxContext<I, O> extends StepContext<I, O> {
  readonly op: Op;
}

/** In undo callbacks, outputs of steps that never finished are missing; the step's own too when it failed. */
export type UndoContext<I, O> = TxContext<I, Partial<O>>;

/**
 * A step states its undo or why there is nothing to undo. Undo means "ensure absent": it also runs for the step that
 * failed.
 */
type TxUndo<I, O, R> =
  | { undo: (c: UndoContext<I, O>, output: R | undefined) => Promise<void>; noUndo?: never }
  | { noUndo: string; undo?: never };

export type TxStep<I, O, R> = TxUndo<I, O, R> & {
  run: (c: TxContext<I, O>) => Promise<R>;
  /** Other tasks wait for what it locks: nothing after it shares its commit. */
  commitAtOnce?: boolean;
  retry?: RetryPolicy;
  /** Shown to users instead of the name. */
  title?: string;
};

/** One call to a node. Arguments are computed in a short transaction of their own, at every attempt. */
export interface RemoteCall<I, O, A, R> {
  verb: Verb<A, R>;
  node: (c: StepContext<I, O>) => string;
  args: (c: TxContext<I, O>) => Promise<A> | A;
}

export interface RemoteUndoCall<I, O, A, R> {
  verb: Verb<A, R>;
  /** Undefined when the step cannot have reached any node. */
  node: (c: StepContext<I, Partial<O>>) => string | undefined;
  args: (c: UndoContext<I, O>) => Promise<A> | A;
}

type RemoteUndo<I, O> =
  | { undo: RemoteUndoCall<I, O, never, unknown>; noUndo?: never }
  | { noUndo: string; undo?: never };

type RemoteStep<I, O, A, R> = RemoteCall<I, O, A, R> &
  RemoteUndo<I, O> & {
    retry?: RetryPolicy;
    /** Deadline of the step over all attempts. Default: the task's. */
    timeout?: Duration;
    title?: string;
    /** Skips the step (with output undefined) when false. Decided on stored data only. */
    when?: (c: StepContext<I, O>) => boolean;
    /** As in `WorkflowDefinition.remote`. */
    together?: boolean;
    /**
     * A node that cannot be reached is treated as done. Only for removals of things that the node removes by itself
     * when it is back.
     */
    tolerateLostNode?: boolean;
  };

/** As `WorkflowDefinition.remote` takes it, with the arguments and result of its undo's verb. */
export type RemoteSpec<I, O, A, R, UA = A, UR = R> = Omit<RemoteStep<I, O, A, R>, 'undo' | 'noUndo' | 'together'> &
  ({ undo: RemoteUndoCall<I, O, UA, UR>; noUndo?: never } | { noUndo: string; undo?: never });

/** What a local step's callbacks see. They have no transaction: they may take hours. */
export interface LocalContext<I, O> extends StepContext<I, O> {
  /**
   * Different for each worker that has had the task, and growing: what carries it in its name is no other worker's,
   * also when one that froze beyond its lease goes on for a moment.
   */
  readonly fence: string;
  /** A transaction that commits only while the task is this worker's, and throws otherwise. */
  readonly tx: <T>(fn: (op: Op) => Promise<T>) => Promise<T>;
}

/** Tells how far a step is: 0 to 100, and what it is at. As often as one likes. */
export type ReportProgress = (percent: number, message?: string) => void;

/** `signal` as in `run`; the step's own output is missing when it failed. */
type LocalUndo<I, O, R> =
  | {
      undo: (c: LocalContext<I, Partial<O>>, output: R | undefined, signal: AbortSignal) => Promise<void>;
      noUndo?: never;
    }
  | { noUndo: string; undo?: never };

/**
 * Work in the management process, under the task's lease: at least once. It occupies one of the process's workers, so
 * a type with such a step has a `limit`.
 */
export type LocalStep<I, O, R> = LocalUndo<I, O, R> & {
  /**
   * Must stop soon after `signal` fires: the task was cancelled, the process stops, or the task may be another's in a
   * moment. What it throws then is not looked at.
   */
  run: (c: LocalContext<I, O>, signal: AbortSignal, progress: ReportProgress) => Promise<R>;
  retry?: RetryPolicy;
  /** Deadline of the step over all attempts. Default: the task's. */
  timeout?: Duration;
  title?: string;
};

/** Waits for a condition on stored data; re-checked on every wake-up of the task and every `every`. */
export interface WaitStep<I, O, R> {
  /** Returns the output once the condition holds, undefined to go on waiting; throws to fail. */
  until: (c: TxContext<I, O>) => Promise<R | undefined>;
  every: Duration;
  timeout: Duration;
  title?: string;
}

export interface WorkflowSubject {
  kind: string;
  id: string;
  name: string;
}

/** A task that a step starts and waits for. Made by `childTask`. */
export interface ChildTask {
  readonly definition: WorkflowDefinition<unknown, never>;
  readonly input: unknown;
  readonly subject: WorkflowSubject;
}

/** One part of a fan-out. It runs for the same project and principal as the task that starts it. */
export const childTask = <I>(
  definition: WorkflowDefinition<I, never>,
  input: I,
  subject: WorkflowSubject,
): ChildTask => ({ definition: definition as unknown as ChildTask['definition'], input, subject });

/** What became of a child. */
export interface ChildOutcome {
  id: string;
  subject: WorkflowSubject;
  state: 'succeeded' | 'failed' | 'cancelled';
  /** `cause`: what only operators are told. */
  error: { code: string; message: string; cause?: string } | null;
}

type ChildrenUndo<I, O> =
  | { undo: (c: UndoContext<I, O>) => Promise<ChildTask[]>; noUndo?: never }
  | { noUndo: string; undo?: never };

/**
 * Starts tasks in one transaction and waits until all of them are over. When one does not succeed the others are
 * cancelled, and the step fails once they are over too. Undo first ends those still at work in the same way, then
 * starts the tasks that its callback gives and waits for them.
 */
export type ChildrenStep<I, O> = ChildrenUndo<I, O> & {
  /** At most 1,000. None: the step is over at once. */
  start: (c: TxContext<I, O>) => Promise<ChildTask[]>;
  /** A child that fails is only an outcome: the others go on and the step succeeds. */
  tolerateFailures?: boolean;
  /** From the first child's start. Default: the task's deadline. */
  timeout?: Duration;
  title?: string;
};

export type AnyStep =
  | { kind: 'tx'; name: string; spec: TxStep<unknown, Record<string, unknown>, unknown> }
  | { kind: 'remote'; name: string; spec: RemoteStep<unknown, Record<string, unknown>, unknown, unknown> }
  | { kind: 'local'; name: string; spec: LocalStep<unknown, Record<string, unknown>, unknown> }
  | { kind: 'wait'; name: string; spec: WaitStep<unknown, Record<string, unknown>, unknown> }
  | { kind: 'children'; name: string; spec: ChildrenStep<unknown, Record<string, unknown>> };

/** Of several tasks that wait for a worker, urgent ones go first and background ones last. */
export type Priority = 'urgent' | 'normal' | 'background';

export interface WorkflowOptions<I> {
  version: number;
  /**
   * Older versions whose tasks these steps bring to their end: names, order and outputs are the same. A process that
   * knows only those does not take up a task of this version.
   */
  continues?: readonly number[];
  input: z.ZodType<I>;
  /**
   * One live task per key; a second start is refused with 409 `task_running` that names the first. A task may need
   * several keys, 16 at most: it begins when it has them all.
   */
  lock?: (input: I) => string | readonly string[];
  /**
   * What a start meets of whose lock keys another task holds one (unless it preempts that one): `refuse` with 409, or
   * `wait` for its turn behind those that wait already, 100 at most.
   */
  whenLocked?: 'refuse' | 'wait';
  /** Default `normal`. */
  priority?: Priority;
  /** Tasks of this type and version that are under way at the same time, over all processes. Default: no limit. */
  limit?: number;
  /** Of these, those of one project. Tasks of the system count as those of one more. Default: no limit. */
  limitPerProject?: number;
  /** Over all steps; undo has its own deadline of the same length, after which the task is `stuck`. */
  deadline: Duration;
  /**
   * Whatever holds one of its lock keys is cancelled (at its next boundary) and waited for, unless it only goes forward:
   * that is refused as any other. A start of the same type with the same keys joins the one that is live.
   */
  preempts?: boolean;
  /** Why it can be cancelled only until its first step begins, e.g. because what it takes away does not come back. */
  goesForward?: string;
  /**
   * In the transaction that ends the task as failed or cancelled, all undone: e.g. remove the row that the start made.
   */
  whenUndone?: (c: TxContext<I, Record<string, unknown>>, error: { code: string; message: string }) => Promise<void>;
  /** In the transaction that ends the task as stuck. */
  whenStuck?: (c: TxContext<I, Record<string, unknown>>, error: { code: string; message: string }) => Promise<void>;
}

/**
 * A named, versioned list of steps. Built once per process and registered with the engine; the engine runs it, nobody
 * calls it.
 */
export class WorkflowDefinition<I = unknown, O = Record<never, never>> {
  readonly steps: AnyStep[] = [];

  constructor(
    readonly type: string,
    readonly options: WorkflowOptions<I>,
  ) {}

  /** A step inside the database: effect and checkpoint in one commit, so exactly once. */
  tx<N extends string, R>(name: N, spec: TxStep<I, O, R>): WorkflowDefinition<I, O & Record<N, R>> {
    return this.add({ kind: 'tx', name, spec: spec as never });
  }

  /**
   * A step on a node: at least once, made idempotent by its key `task/step/phase` and the task's fence. `together`: its
   * call leaves in one request with that of the step before it when both go to the same node, which begins it once that
   * one has succeeded. Its arguments are computed with those of that step: before, and without its output.
   */
  remote<N extends string, A, R, UA = A, UR = R>(
    name: N,
    spec: RemoteSpec<I, O, A, R, UA, UR>,
    { together = false }: { together?: boolean } = {},
  ): WorkflowDefinition<I, O & Record<N, R>> {
    return this.add({ kind: 'remote', name, spec: { ...spec, together } as never });
  }

  /** A step in the management process, for what takes long or meets the outside: at least once. */
  local<N extends string, R>(name: N, spec: LocalStep<I, O, R>): WorkflowDefinition<I, O & Record<N, R>> {
    return this.add({ kind: 'local', name, spec: spec as never });
  }

  /** A pause until stored data says so. Has no effect and so no undo. */
  wait<N extends string, R>(name: N, spec: WaitStep<I, O, R>): WorkflowDefinition<I, O & Record<N, R>> {
    return this.add({ kind: 'wait', name, spec: spec as never });
  }

  /** A fan-out: tasks of other workflows (or this one), started together, all awaited. */
  children<N extends string>(name: N, spec: ChildrenStep<I, O>): WorkflowDefinition<I, O & Record<N, ChildOutcome[]>> {
    return this.add({ kind: 'children', name, spec: spec as never });
  }

  private add<N extends string, R>(step: AnyStep): WorkflowDefinition<I, O & Record<N, R>> {
    if (this.steps.some((s) => s.name === step.name))
      throw new Error(`workflow ${this.type}: step "${step.name}" is there twice`);
    this.steps.push(step);
    return this as unknown as WorkflowDefinition<I, O & Record<N, R>>;
  }
}

export const defineWorkflow = <I>(type: string, options: WorkflowOptions<I>): WorkflowDefinition<I> =>
  new WorkflowDefinition<I>(type, options);

/**
 * An injectable holder of one definition: the class takes its services by constructor and builds `definition` from
 * them.
 */
export abstract class Workflow<I = unknown> {
  abstract readonly definition: WorkflowDefinition<I, never>;
}

/** A workflow of whatever input, as manifests list them and the engine registers them. */
export interface AnyWorkflow {
  readonly definition: { readonly type: string; readonly steps: readonly AnyStep[] };
}
