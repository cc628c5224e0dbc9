/** Retrying cannot help: undo now. Any `Problem` below 500 that a step throws counts as permanent too. */
export class PermanentError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly extra: Record<string, unknown> = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'PermanentError';
  }
}
