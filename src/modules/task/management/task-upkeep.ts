import { injectable } from 'inversify';
import { Service } from '../../../core/lifecycle/service';
import { Jobs } from '../../../core/jobs/jobs';
import { TaskService } from './task.service';

const hourMs = 3_600_000;

/** Forgets what operators did to tasks that retention has removed. */
@injectable()
export class TaskUpkeep extends Service {
  constructor(
    private readonly jobs: Jobs,
    private readonly tasks: TaskService,
  ) {
    super();
  }

  override async start(): Promise<void> {
    await this.jobs.repeat('task.prune-audit', hourMs, () => this.tasks.prune());
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }
}
