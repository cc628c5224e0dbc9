import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Op } from '../../db/rows/op';
import { conflict, notFound } from '../../errors/problem';
import { Outbox } from '../../events/outbox';
import type { Priority, WorkflowDefinition, WorkflowOptions } from '../definition/definition';
import { DefinitionRegistry, type AnyDefinition } from '../definition/definition-registry';
import { parseDuration } from '../definition/duration';
import { TaskWaiters } from './task-waiters';
import { TaskChildrenRepository } from '../storage/task-children.repository';
import {
  TaskRequestRepository,
  type LockHolder,
  type NewTask,
  type OperatedTask,
} from '../storage/task-request.repository';
import { WakeUps } from './wake-ups';
import { WorkflowMetrics } from '../workflow-metrics';
import type { StartedTask, StartOptions } from './workflows';

const priorities: Record<Priority, number> = { urgent: 0, normal: 1, background: 2 };

/** Tasks that wait for one lock key at most. */
const longestQueue = 100;

type LockRules = Pick<WorkflowOptions<unknown>, 'preempts' | 'whenLocked'>;

/** How tasks come into being, and what a start does when another task holds its lock. */
@injectable()
export class TaskQueue {
  constructor(
    private readonly requests: TaskRequestRepository,
    private readonly children: TaskChildrenRepository,
    private readonly registry: DefinitionRegistry,
    private readonly outbox: Outbox,
    private readonly metrics: WorkflowMetrics,
    private readonly waiters: TaskWaiters,
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
    const lockKey = definition.options.lock?.(parsed) ?? null;
    const task: NewTask = {
      id: timeOrderedUuid(),
      type: definition.type,
      version: definition.options.version,
      projectId: options.projectId,
      subject: options.subject,
      input: parsed,
      firstStep: definition.steps[0]?.name ?? '',
      lockKey,
      lockState: lockKey === null ? null : 'held',
      deadlineMs: parseDuration(definition.options.deadline),
      createdBy: options.createdBy,
      requestId: options.requestId ?? null,
      priority: priorities[definition.options.priority ?? 'normal'],
      parent,
    };
    const joined = await this.insert(op, task, definition.options);
    if (joined !== undefined) return { id: joined, created: false };
    this.metrics.started.inc({ type: task.type });
    const { id, type, projectId, subject, firstStep, createdBy } = task;
    const data = {
      id,
      type,
      state: 'queued',
      projectId,
      subject,
      progress: 0,
      step: firstStep,
      error: null,
      createdBy,
      parentId: parent?.id ?? null,
    };
    await this.outbox.publish(op, { type: 'task.created', projectId, subject: { kind: 'task', id }, data });
    this.wakeUps.workers(op, false);
    return { id, created: true };
  }

  /** Ends a stuck task as failed, not undone, and hands on its lock. */
  async endStuck(op: Op, task: Pick<OperatedTask, 'id' | 'lockKey' | 'hasWaiter'>, hint: string): Promise<void> {
    const ended = await this.requests.endStuck(op, task.id, { hint });
    if (ended?.parentId) await this.children.over(op, ended.parentId, true);
    if (task.hasWaiter && task.lockKey !== null) await this.requests.handOver(op, task.lockKey);
    op.afterCommit(() => this.waiters.settled(task.id, 'failed'));
    this.wakeUps.workers(op, true);
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

  /** Returns the id of the live task that the start joins, undefined when the task was inserted. */
  private async insert(op: Op, task: NewTask, rules: LockRules): Promise<string | undefined> {
    // The holder may end between the insert and the look at it; each round sees a newer state of the database.
    for (let round = 0; round < 20; round++) {
      if (await this.requests.insert(op, task)) return undefined;
      const lockKey = task.lockKey ?? '';
      const holder = await this.requests.lockHolder(op, lockKey);
      if (!holder) continue;
      const preempts = rules.preempts === true;
      const same = holder.type === task.type;
      if (holder.state === 'stuck' && preempts) {
        await this.endStuck(op, { id: holder.id, lockKey, hasWaiter: false }, `Task ${task.id} goes on from there.`);
        continue;
      }
      if (preempts && same) return holder.id;
      if (preempts && this.preemptable(holder)) return this.preempt(op, task, holder.id, lockKey);
      if (rules.whenLocked === 'wait') return this.wait(op, task, holder.id, lockKey);
      throw conflict(
        'task_running',
        `Task ${holder.id} (${holder.type}) is still at work on this ${task.subject.kind}. Wait for it, or cancel it.`,
        { task: { id: holder.id, type: holder.type } },
      );
    }
    throw conflict('task_running', `Other tasks keep this ${task.subject.kind} busy. Try again.`);
  }

  /** What only goes forward does not stop for another; what this process does not know is asked to. */
  private preemptable({ type, version }: LockHolder): boolean {
    return this.registry.get(type, version)?.options.goesForward === undefined;
  }

  private async preempt(op: Op, task: NewTask, holderId: string, lockKey: string): Promise<string | undefined> {
    const waiter = await this.requests.waiterOf(op, lockKey, task.type);
    if (waiter !== undefined) return waiter;
    await this.requests.insert(op, { ...task, lockState: 'waiting' });
    await this.requests.preempt(
      op,
      holderId,
      `task:${task.id}`,
      `Cancelled: ${task.type} was asked for the same ${task.subject.kind}.`,
    );
    return undefined;
  }

  private async wait(op: Op, task: NewTask, holderId: string, lockKey: string): Promise<undefined> {
    const waiting = await this.requests.joinQueue(op, holderId, lockKey);
    if (waiting >= longestQueue)
      throw conflict(
        'task_queue_full',
        `${waiting} tasks wait for this ${task.subject.kind} already. Try again when some of them are over.`,
        { waiting },
      );
    await this.requests.insert(op, { ...task, lockState: 'waiting' });
  }
}
