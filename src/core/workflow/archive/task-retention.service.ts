import { injectable } from 'inversify';
import { Service } from '../../lifecycle/service';
import { Config } from '../../config/config';
import { Jobs } from '../../jobs/jobs';
import { TaskArchiveRepository } from './task-archive.repository';

const everyMs = 60_000;
/** Of 500 tasks each; what is left then is taken in the next round. */
const batchesPerRound = 200;

/**
 * Keeps the engine's table small: tasks that are over go to the archive, and out of it, as `workflow` in the
 * configuration says.
 */
@injectable()
export class TaskRetention extends Service {
  private stopping = false;

  constructor(
    private readonly jobs: Jobs,
    private readonly tasks: TaskArchiveRepository,
    private readonly config: Config,
  ) {
    super();
  }

  override async start(): Promise<void> {
    await this.jobs.repeat('core.archive-tasks', everyMs, () => this.round());
  }

  override async stop(): Promise<void> {
    this.stopping = true;
    await Promise.resolve();
  }

  private async round(): Promise<void> {
    const { archiveAfterMinutes, keepDays } = this.config.core.workflow;
    await this.all(() => this.tasks.archive(archiveAfterMinutes * 60_000));
    await this.all(() => this.tasks.prune(keepDays * 86_400_000));
    await this.tasks.freeLostPlaces();
  }

  private async all(step: () => Promise<boolean>): Promise<void> {
    for (let i = 0; i < batchesPerRound && !this.stopping; i += 1) if (!(await step())) return;
  }
}
