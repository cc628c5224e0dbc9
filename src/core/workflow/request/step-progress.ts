import { injectable } from 'inversify';
import { Database } from '../../db/database';
import { Outbox } from '../../events/outbox';
import { TaskRequestRepository } from '../storage/task-request.repository';

/** Viewers are told at most so often how far a step is. Milliseconds. */
const quietMs = 500;
/** Steps that are remembered to have been told of. */
const remembered = 1_000;

/** A step that tells how far it is. */
export interface ReportingStep {
  taskId: string;
  step: string;
  phase: string;
}

/** What hosts and local steps report of long work: kept with the step, and told to those who watch the task. */
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
    await this.store(hostId, key, { taskId, step, phase }, percent, message);
  }

  /** Of a step in this process. Unlike hosts it tells as often as it likes, so that not each word is stored. */
  async local(at: ReportingStep, percent: number, message: string): Promise<void> {
    const key = `${at.taskId}/${at.step}/${at.phase}`;
    if (percent >= 100 || this.due(key)) await this.store(null, key, at, percent, message, true);
  }

  private async store(
    hostId: string | null,
    key: string,
    { taskId, step, phase }: ReportingStep,
    percent: number,
    message: string,
    due?: boolean,
  ): Promise<void> {
    const progress = Math.max(0, Math.min(100, Math.round(percent)));
    const text = message.slice(0, 255);
    const task = await this.requests.progress(this.database.op, taskId, step, phase, hostId, progress, text);
    if (!task || !(due ?? this.due(key))) return;
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
