/**
 * Cloud Hypervisor refused a call (`status` and the chain of its reasons, outermost first), or did not answer (`status`
 * 0). Which status belongs to which reason changes with the version, so callers look at the texts.
 */
export class ChError extends Error {
  constructor(
    readonly endpoint: string,
    readonly status: number,
    readonly chain: readonly string[],
  ) {
    super(`${endpoint}: ${chain.join(': ') || `status ${status}`}`);
    this.name = 'ChError';
  }

  /** True when one of the reasons contains the text. */
  says(text: string): boolean {
    return this.chain.some((reason) => reason.includes(text));
  }

  get unanswered(): boolean {
    return this.status === 0;
  }
}
