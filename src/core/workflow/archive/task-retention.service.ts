import { injectable } from 'inversify';
import { Config } from '../../config/config';
import { PeriodicWorks, type PeriodicWork } from '../../periodic/periodic-work';
import { TaskLockRepository } from '../storage/task-lock.repository';
import { TaskArchiveRepository } from './task-archive.repository';

const everyMs = 60_000;
const deadlineMs = 600_000;
/** Of 500 tasks each; what is left then is taken in the next round. */
const batchesPerRound = 200;

/**
 * Keeps the engine's table small: tasks that are over go to the archive, and out of it, as `workflow` in the
 * configuration says.
 */
@injectable()
export class TaskRetention extends PeriodicWorks {
  constructor(
    private readonly tasks: TaskArchiveRepository,
    private readonly locks: TaskLockRepository,
    private readonly config: Config,
  ) {
    super();
  }

  override periodicWork(): PeriodicWork[] {
    const run = (signal: AbortSignal): Promise<void> => this.round(signal);
    return [{ name: 'core.archive-tasks', everyMs, scope: 'cluster', deadlineMs, run }];
  }

  private async round(signal: AbortSignal): Promise<void> {
    const { archiveAfterMinutes, keepDays } = this.config.core.workflow;
    await this.all(signal, () => this.tasks.archive(archiveAfterMinutes * 60_000));
    await this.all(signal, () => this.tasks.prune(keepDays * 86_400_000));
    await this.tasks.freeLostSlots();
    await this.locks.freeLost();
  }

  private async all(signal: AbortSignal, step: () => Promise<boolean>): Promise<void> {
    for (let i = 0; i < batchesPerRound && !signal.aborted; i += 1) if (!(await step())) return;
  }
}
