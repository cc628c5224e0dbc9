/** A request body that does not fit its type, in serde's words. */
export class DecodeFailure extends Error {
  constructor(
    message: string,
    /** Bytes that were read by then. */
    readonly at: number,
  ) {
    super(message);
    this.name = 'DecodeFailure';
  }
}
