import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Op } from '../../db/rows/op';
import { conflict, notFound } from '../../errors/problem';
import { Outbox } from '../../events/outbox';
import type { Priority, WorkflowDefinition } from '../definition/definition';
import { DefinitionRegistry, type AnyDefinition } from '../definition/definition-registry';
import { parseDuration } from '../definition/duration';
import { lockKeysOf } from '../definition/lock-keys';
import { LockQueue } from './lock-queue';
import { TaskRequestRepository, type NewTask, type OperatedTask } from '../storage/task-request.repository';
import { WakeUps } from './wake-ups';
import { WorkflowMetrics } from '../workflow-metrics';
import type { StartedTask, StartOptions } from './workflows';

const priorities: Record<Priority, number> = { urgent: 0, normal: 1, background: 2 };

/** How tasks come into being. */
@injectable()
export class TaskQueue {
  constructor(
    private readonly requests: TaskRequestRepository,
    private readonly locks: LockQueue,
    private readonly registry: DefinitionRegistry,
    private readonly outbox: Outbox,
    private readonly metrics: WorkflowMetrics,
    private readonly wakeUps: WakeUps,
  ) {}

  /** See `Workflows.start`. `parent`: the task that waits for it, and the step of that one. */
  async add<I>(
    op: Op,
    definition: WorkflowDefinition<I, never>,
    input: I,
    options: StartOptions,
    parent: NewTask['parent'] = null,
  ): Promise<StartedTask> {
    const known = definition as unknown as AnyDefinition;
    if (!this.registry.has(known))
      throw new Error(`workflow ${definition.type}@${definition.options.version} is not registered`);
    const parsed = definition.options.input.parse(input);
    const task: NewTask = {
      id: timeOrderedUuid(),
      type: definition.type,
      version: definition.options.version,
      projectId: options.projectId,
      subject: options.subject,
      input: parsed,
      firstStep: definition.steps[0]?.name ?? '',
      lockKeys: lockKeysOf(definition.options.lock?.(parsed)),
      deadlineMs: parseDuration(definition.options.deadline),
      createdBy: options.createdBy,
      requestId: options.requestId ?? null,
      priority: priorities[definition.options.priority ?? 'normal'],
      parent,
      worker: this.wakeUps.workerFor(op),
    };
    const sent = performance.now();
    const come = await this.locks.insert(op, task, definition.options);
    if ('joined' in come) return { id: come.joined, created: false };
    this.metrics.started.inc({ type: task.type });
    const { id, type, projectId, subject, firstStep, createdBy } = task;
    const data = {
      id,
      type,
      state: come.begun?.state ?? 'queued',
      projectId,
      subject,
      progress: 0,
      step: firstStep,
      error: null,
      createdBy,
      parentId: parent?.id ?? null,
    };
    await this.outbox.publish(op, { type: 'task.created', projectId, subject: { kind: 'task', id }, data });
    if (come.begun) this.wakeUps.begin(op, come.begun, sent);
    else this.wakeUps.workers(op, false);
    return { id, created: true };
  }

  /** A stuck task, locked. Throws 404, and 409 `task_not_stuck`. */
  async stuckTask(op: Op, taskId: string): Promise<OperatedTask> {
    const task = await this.requests.forOperator(op, taskId);
    if (!task) throw notFound('task', taskId);
    if (task.state !== 'stuck')
      throw conflict('task_not_stuck', `The task is ${task.state}; this is only for stuck tasks.`, {
        state: task.state,
      });
    return task;
  }
}
