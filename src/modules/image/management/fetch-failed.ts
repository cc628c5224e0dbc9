/** A URL could not be fetched. `retry`: it may work later. */
export class FetchFailed extends Error {
  constructor(
    readonly code: 'url_not_allowed' | 'url_credentials' | 'url_failed',
    message: string,
    readonly retry: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'FetchFailed';
  }
}
