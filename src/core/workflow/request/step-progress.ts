import { injectable } from 'inversify';
import { Database } from '../../db/database';
import { Outbox } from '../../events/outbox';
import { TaskRequestRepository } from '../storage/task-request.repository';

/** Viewers are told at most so often how far a step is. Milliseconds. */
const quietMs = 500;
/** Steps that are remembered to have been told of. */
const remembered = 1_000;

/** What hosts report of long steps: kept with the step, and told to those who watch the task. */
@injectable()
export class StepProgress {
  private readonly told = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly requests: TaskRequestRepository,
    private readonly outbox: Outbox,
  ) {}

  /** `key` is that of the call. Nothing happens when it is none, or its step does not run on that host. */
  async report(hostId: string, key: string, percent: number, message: string): Promise<void> {
    const [taskId, step, phase] = key.split('/');
    if (taskId === undefined || step === undefined || phase === undefined || !/^[0-9a-f-]{36}$/.test(taskId)) return;
    const progress = Math.max(0, Math.min(100, Math.round(percent)));
    const text = message.slice(0, 255);
    const task = await this.requests.progress(this.database.op, taskId, step, phase, hostId, progress, text);
    if (!task || !this.due(key)) return;
    const { projectId } = task;
    const data = { id: taskId, projectId, step, stepProgress: { name: step, phase, progress, message: text } };
    await this.outbox.publish(this.database.op, {
      type: 'task.updated',
      projectId,
      subject: { kind: 'task', id: taskId },
      data,
    });
  }

  /** The call is over. */
  forget(key: string): void {
    this.told.delete(key);
  }

  private due(key: string): boolean {
    const now = performance.now();
    if (now - (this.told.get(key) ?? Number.NEGATIVE_INFINITY) < quietMs) return false;
    this.told.delete(key);
    this.told.set(key, now);
    for (const old of this.told.keys()) {
      if (this.told.size <= remembered) break;
      this.told.delete(old);
    }
    return true;
  }
}
