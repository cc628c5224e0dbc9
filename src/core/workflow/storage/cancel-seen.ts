/** Thrown before a step begins when the task was cancelled meanwhile: nothing of the step has happened yet. */
export class CancelSeen extends Error {
  constructor(readonly reason: string | null) {
    super('the task was cancelled');
    this.name = 'CancelSeen';
  }
}
