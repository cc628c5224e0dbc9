/** So many tasks may hold a place at the same time, over all processes. */
export interface Limit {
  /** `host/<id>` or `type/<type>@<version>`. */
  scope: string;
  places: number;
}

/** Thrown before a step begins when a limit has no place for it: nothing of the step has happened yet. */
export class NoPlace extends Error {
  constructor(readonly limit: Limit) {
    super(`no place under the limit of ${limit.places} for ${limit.scope}`);
    this.name = 'NoPlace';
  }
}
