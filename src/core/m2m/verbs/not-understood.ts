/** Arguments say something that a node of an older revision does not know. */
export class NotUnderstood extends Error {
  /** @param what of the arguments, in the operator's words, e.g. `the config drive of the instance` */
  constructor(readonly what: string) {
    super(`${what} is not understood`);
    this.name = 'NotUnderstood';
  }
}
