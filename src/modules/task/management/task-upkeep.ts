import { injectable } from 'inversify';
import { PeriodicWorks, type PeriodicWork } from '../../../core/periodic/periodic-work';
import { TaskService } from './task.service';

/** Forgets what operators did to tasks that retention has removed. */
@injectable()
export class TaskUpkeep extends PeriodicWorks {
  constructor(private readonly tasks: TaskService) {
    super();
  }

  override periodicWork(): PeriodicWork[] {
    const run = (): Promise<void> => this.tasks.prune();
    return [{ name: 'task.prune-audit', everyMs: 3_600_000, scope: 'cluster', deadlineMs: 300_000, run }];
  }
}
