import { injectable } from 'inversify';
import { Database } from '../../../core/db/database';
import { Outbox } from '../../../core/events/outbox';
import { VerbEvents } from '../../../core/m2m/verb-events';
import { WorkflowEngine } from '../../../core/workflow/workflow-engine';
import { TaskRepository } from './task.repository';

/** Viewers are told at most so often how far a step is. Milliseconds. */
const quietMs = 500;
/** Steps that are remembered to have been told of. */
const remembered = 1_000;

/** Stands between hosts and the engine: what hosts report of long steps also reaches those who watch the task. */
@injectable()
export class TaskProgress extends VerbEvents {
  private readonly told = new Map<string, number>();

  constructor(
    private readonly engine: WorkflowEngine,
    private readonly tasks: TaskRepository,
    private readonly outbox: Outbox,
    private readonly database: Database,
  ) {
    super();
  }

  override onVerbDone(hostId: string, key: string): Promise<void> {
    this.told.delete(key);
    return this.engine.onVerbDone(hostId, key);
  }

  override async onProgress(hostId: string, key: string, percent: number, message: string): Promise<void> {
    await this.engine.onProgress(hostId, key, percent, message);
    const [taskId, step, phase] = key.split('/');
    if (taskId === undefined || step === undefined || phase === undefined || !/^[0-9a-f-]{36}$/.test(taskId) || !this.due(key)) return;
    const task = await this.tasks.projectOfRunning(this.database.op, taskId, step, phase, hostId);
    if (!task) return;
    const progress = Math.max(0, Math.min(100, Math.round(percent)));
    await this.database.tx((op) =>
      this.outbox.publish(op, {
        type: 'task.updated',
        projectId: task.projectId,
        subject: { kind: 'task', id: taskId },
        data: { id: taskId, projectId: task.projectId, step, stepProgress: { name: step, phase, progress, message: message.slice(0, 255) } },
      }),
    );
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
