/** The task belongs to somebody else by now, or may: stop and touch nothing. Never seen by a workflow's callbacks. */
export class LeaseLost extends Error {
  constructor(readonly taskId: string) {
    super(`task ${taskId} is no longer this worker's`);
    this.name = 'LeaseLost';
  }
}
