import type { FailureKind } from './profile';

/** A refused call: its kind decides the status (by version), its chain is the body, outermost first. */
export class ApiFailure extends Error {
  readonly chain: readonly string[];

  constructor(
    readonly kind: FailureKind,
    ...chain: string[]
  ) {
    super(chain.join(': '));
    this.name = 'ApiFailure';
    this.chain = chain;
  }
}
