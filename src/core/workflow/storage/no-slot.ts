/** So many tasks may hold a slot at the same time, over all processes. */
export interface Limit {
  /** `host/<id>` or `type/<type>@<version>`. */
  scope: string;
  slots: number;
}

/** Thrown before a step begins when a limit has no slot for it: nothing of the step has happened yet. */
export class NoSlot extends Error {
  constructor(readonly limit: Limit) {
    super(`no slot under the limit of ${limit.slots} for ${limit.scope}`);
    this.name = 'NoSlot';
  }
}
