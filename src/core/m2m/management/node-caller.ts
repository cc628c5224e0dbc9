import type { Duplex } from 'node:stream';
import type { Verb } from '../verbs/verb';

export interface CallOptions {
  /** `task/step/phase`; the node answers a repeated key with the first result. Required for mutating verbs. */
  key?: string;
  /** The task's fence; the node refuses a mutating call with a lower fence than it has seen for the task. */
  fence?: number;
  requestId?: string;
  signal?: AbortSignal;
}

export type CallOutcome<R> = { done: true; result: R } | { done: false };

/** One of several calls that leave in one request. */
export interface CallInTurn {
  verb: Verb;
  args: unknown;
  key: string;
}

/** The first call that is not done is the last one that the node began. */
export interface CallsInTurn {
  /** In the order of the calls. `ms`: how long the node took for it. */
  outcomes: (CallOutcome<unknown> & { ms: number })[];
  /** Of the call after those, when it failed: what `call` throws. */
  error?: unknown;
}

/** The node could not be asked or did not answer: what happened there is unknown. Transient. */
export class NodeUnreachableError extends Error {
  constructor(
    readonly hostId: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'NodeUnreachableError';
  }
}

/** The node answered with a refusal or a failure. */
export class NodeVerbError extends Error {
  constructor(
    readonly hostId: string,
    readonly verb: string,
    readonly code: string,
    message: string,
    /** True: a repeat cannot succeed (the node said so). */
    readonly permanent: boolean,
    readonly extra: Record<string, unknown> = {},
    /** What a program or the system said there, for operators only. */
    readonly detail?: string,
  ) {
    super(message);
    this.name = 'NodeVerbError';
  }
}

/** Management's way to its nodes: mutual TLS, one circuit breaker per node. */
export abstract class NodeCaller {
  /**
   * Calls a verb. `done: false` means accepted: ask `outcome` by the same key, or wait for the node's event
   * `verb.done`.
   */
  abstract call<A, R>(hostId: string, verb: Verb<A, R>, args: A, options: CallOptions): Promise<CallOutcome<R>>;
  /** Whether the node's agent is known to take several calls in one request. */
  abstract takesCallsInTurn(hostId: string): boolean;
  /**
   * Mutating calls in one request: the node begins each once the one before is done. Rejects when the node did not
   * answer: then any of them may have been begun.
   */
  abstract callInTurn(
    hostId: string,
    calls: readonly CallInTurn[],
    options: Omit<CallOptions, 'key'>,
  ): Promise<CallsInTurn>;
  /** The journalled outcome of an accepted call; throws what the call would have thrown. */
  abstract outcome<A, R>(hostId: string, verb: Verb<A, R>, key: string): Promise<CallOutcome<R>>;
  /** Opens a bidirectional byte stream (console) at the node's `path`, e.g. `/streams/instances/<id>/console`. */
  abstract stream(hostId: string, path: string): Promise<Duplex>;
}
