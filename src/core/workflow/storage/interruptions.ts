/** Thrown before a step begins when the task was cancelled meanwhile: nothing of the step has happened yet. */
export class CancelSeen extends Error {
  constructor(readonly reason: string | null) {
    super('the task was cancelled');
    this.name = 'CancelSeen';
  }
}

/** The task belongs to somebody else by now, or may: stop and touch nothing. Never seen by a workflow's callbacks. */
export class LeaseLost extends Error {
  constructor(readonly taskId: string) {
    super(`task ${taskId} is no longer this worker's`);
    this.name = 'LeaseLost';
  }
}

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
