import type { Logger } from 'pino';
import type { Verb } from './verb';

export interface VerbContext {
  key: string | undefined;
  fence: number | undefined;
  requestId: string | undefined;
  log: Logger;
  /** Reports how far a long verb is, 0 to 100, to the task's current step. Best effort. */
  progress(percent: number, message?: string): void;
  /**
   * Aborted when the agent stops. Handlers of long verbs end soon after; the call is then repeated after the restart.
   */
  signal: AbortSignal;
}

export interface VerbHandler {
  verb: Verb;
  run: (args: unknown, ctx: VerbContext) => Promise<unknown>;
}

export const handle = <A, R>(verb: Verb<A, R>, run: (args: A, ctx: VerbContext) => Promise<R>): VerbHandler => ({
  verb: verb as Verb,
  run: run as VerbHandler['run'],
});

/** The node half of a module: one handler per verb of its contract. */
export abstract class VerbHandlers {
  abstract handlers(): VerbHandler[];
}

/** Characters. */
const longestDetail = 2000;

/**
 * Thrown by a handler: refused or failed. `permanent` means that a repeat of the same call cannot succeed. The message
 * is read by tenants: it is in the domain's words, without paths, programs or addresses of the host. What a program or
 * the system said goes into `detail`, for operators only.
 */
export class VerbFailure extends Error {
  readonly detail: string | undefined;

  constructor(
    readonly code: string,
    message: string,
    readonly permanent: boolean,
    readonly extra: Record<string, unknown> = {},
    options?: { cause?: unknown; detail?: string },
  ) {
    super(message, options);
    this.name = 'VerbFailure';
    this.detail = options?.detail?.slice(0, longestDetail);
  }
}
