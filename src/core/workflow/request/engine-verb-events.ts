import { injectable } from 'inversify';
import { Database } from '../../db/database';
import { VerbEvents } from '../../m2m/verbs/verb-events';
import { TaskRequestRepository } from '../storage/task-request.repository';
import { StepProgress } from './step-progress';
import { WakeUps } from './wake-ups';

/** What hosts report of the calls that they accepted. */
@injectable()
export class EngineVerbEvents extends VerbEvents {
  constructor(
    private readonly database: Database,
    private readonly requests: TaskRequestRepository,
    private readonly progress: StepProgress,
    private readonly wakeUps: WakeUps,
  ) {
    super();
  }

  /** The call has ended: its task asks for the outcome at once. */
  override async onVerbDone(_hostId: string, key: string): Promise<void> {
    this.progress.forget(key);
    const [taskId] = key.split('/');
    if (taskId === undefined || !/^[0-9a-f-]{36}$/.test(taskId)) return;
    await this.requests.wakeById(this.database.op, taskId);
    this.wakeUps.workers(this.database.op, true);
  }

  override async onProgress(hostId: string, key: string, percent: number, message: string): Promise<void> {
    await this.progress.report(hostId, key, percent, message);
  }
}
