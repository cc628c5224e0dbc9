/** Retrying cannot help: undo now. Any `Problem` below 500 that a step throws counts as permanent too. */
export class PermanentError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly extra: Record<string, unknown> = {},
    /** What only operators are told beside the message. */
    readonly detail?: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'PermanentError';
  }
}

/** The work was running each time when its process died; it may be what ends it. */
export const processDied = (times: number): PermanentError =>
  new PermanentError(
    'process_died',
    `The work was given up: the process that ran it died ${times} times while it did.`,
  );
