import { injectable } from 'inversify';
import type { Op } from '../../db/rows/op';
import type { WorkflowDefinition } from '../definition/definition';
import { DefinitionRegistry } from '../definition/definition-registry';
import { finalStates, type TaskState } from '../definition/task-state';
import { TaskRequestRepository } from '../storage/task-request.repository';
import { TaskWaiters } from './task-waiters';
import { TaskQueue } from './task-queue';
import { WakeUps } from './wake-ups';
import { Workflows, type StartedTask, type StartOptions } from './workflows';

/** Takes what services ask of the engine, also in a process that runs no tasks. */
@injectable()
export class EngineWorkflows extends Workflows {
  constructor(
    private readonly queue: TaskQueue,
    private readonly requests: TaskRequestRepository,
    private readonly registry: DefinitionRegistry,
    private readonly waiters: TaskWaiters,
    private readonly wakeUps: WakeUps,
  ) {
    super();
  }

  override start<I>(
    op: Op,
    definition: WorkflowDefinition<I, never>,
    input: I,
    options: StartOptions,
  ): Promise<StartedTask> {
    return this.queue.add(op, definition, input, options);
  }

  override async cancel(op: Op, taskId: string, by: string): Promise<'asked' | 'too_late' | 'over'> {
    const asked = await this.requests.cancel(op, taskId, by, 'The task was cancelled.', this.registry.goingForward());
    if (asked) this.wakeUps.workers(op, true);
    if (asked) return 'asked';
    const task = await this.requests.forOperator(op, taskId);
    return task && !finalStates.includes(task.state) ? 'too_late' : 'over';
  }

  override async wake(op: Op, lockKey: string): Promise<void> {
    await this.requests.wakeByLock(op, lockKey);
    this.wakeUps.workers(op, true);
  }

  override settled(taskId: string, timeoutMs: number, first?: () => Promise<TaskState>): Promise<TaskState> {
    return this.waiters.wait(taskId, timeoutMs, first);
  }
}
