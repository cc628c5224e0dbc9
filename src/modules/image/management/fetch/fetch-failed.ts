import type { FetchFailure } from './fetch-messages';

/** A URL could not be fetched. `retry`: it may work later. */
export class FetchFailed extends Error {
  constructor(
    readonly code: FetchFailure,
    message: string,
    readonly retry: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'FetchFailed';
  }
}
