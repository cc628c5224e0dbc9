import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { inject, injectable, optional } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Logger } from 'pino';
import { Database } from '../db/database';
import type { Op } from '../db/op';
import { conflict, notFound } from '../errors/problem';
import { Outbox } from '../events/outbox';
import { NodeCaller } from '../m2m/node-caller';
import type { VerbEvents } from '../m2m/verb-events';
import { Logging } from '../telemetry/logging';
import { Metrics } from '../telemetry/metrics';
import type { WorkflowDefinition } from './definition';
import { DefinitionRegistry, type AnyDefinition, type RegistrableDefinition } from './definition-registry';
import { parseDuration } from './duration';
import { Gate } from './gate';
import { LeaseKeeper } from './lease-keeper';
import type { RunServices } from './run-services';
import { Settlements } from './settlements';
import { TaskPump } from './task-pump';
import { TaskRequestRepository, type NewTask, type OperatedTask } from './task-request.repository';
import { TaskRunRepository } from './task-run.repository';
import { WorkflowMetrics } from './workflow-metrics';
import { WorkflowProbe } from './workflow-probe';
import { WorkflowSettings } from './workflow-settings';
import { Workflows, type StartedTask, type StartOptions, type TaskState } from './workflows';

const wakeChannel = 'task_wake';

export interface StepOutline {
  name: string;
  title: string;
}

/** Runs workflows: see docs/workflows.md. One per process; several processes share the work of one database. */
@injectable()
export class WorkflowEngine extends Workflows implements VerbEvents {
  private readonly log: Logger;
  private readonly settings: WorkflowSettings;
  private readonly registry = new DefinitionRegistry();
  private readonly requests: TaskRequestRepository;
  private readonly settlements: Settlements;
  private readonly metrics: WorkflowMetrics;
  private readonly pump: TaskPump;
  private stopping = false;
  private unlisten: (() => Promise<void>) | undefined;
  private announcing: NodeJS.Immediate | undefined;

  constructor(
    private readonly database: Database,
    nodes: NodeCaller,
    private readonly outbox: Outbox,
    logging: Logging,
    metrics: Metrics,
    @inject(WorkflowProbe) @optional() probe?: WorkflowProbe,
    @inject(WorkflowSettings) @optional() settings?: WorkflowSettings,
  ) {
    super();
    this.log = logging.for('workflow');
    this.settings = settings ?? new WorkflowSettings();
    this.requests = new TaskRequestRepository(database);
    this.settlements = new Settlements(database, this.requests);
    this.metrics = new WorkflowMetrics(metrics.registry, () => this.requests.stuckCount());
    const owner = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
    const store = new TaskRunRepository(database);
    const services: RunServices = {
      owner,
      database,
      gate: new Gate(Math.max(2, Math.floor(database.poolSize * 0.6))),
      store,
      requests: this.requests,
      nodes,
      outbox,
      log: this.log,
      metrics: this.metrics,
      probe: probe ?? new WorkflowProbe(),
      settings: this.settings,
      running: () => this.pump.size,
      stopping: () => this.stopping,
      ended: (taskId, _type, state) => this.settlements.settled(taskId, state),
      dueIn: (ms) => this.pump.dueIn(ms),
    };
    this.pump = new TaskPump(services, this.registry, new LeaseKeeper(store, owner, this.settings.leaseMs, this.log));
  }

  /** Makes definitions known, before `start()`. Throws when one could not be undone: a step has neither an undo nor a stated reason for none. */
  register(definitions: readonly RegistrableDefinition[]): void {
    for (const definition of definitions) this.registry.register(definition as unknown as AnyDefinition);
  }

  /**
   * Without arguments: begins to run tasks; refuses while a live task has a type or version that is not registered.
   * With arguments: queues a task, as `Workflows.start` says; also in a process that runs none.
   */
  override async start<I>(op: Op, definition: WorkflowDefinition<I, never>, input: I, options: StartOptions): Promise<StartedTask>;
  override async start(): Promise<void>;
  override async start<I>(op?: Op, definition?: WorkflowDefinition<I, never>, input?: I, options?: StartOptions): Promise<StartedTask | void> {
    if (op && definition && options) return this.queue(op, definition, input as I, options);
    return this.open();
  }

  /** Ends claiming, lets steps under way finish for a moment, and gives the tasks back for others to go on at once. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.unlisten?.();
    await this.pump.stop(this.settings.stopGraceMs);
    clearImmediate(this.announcing);
    await this.settlements.close();
  }

  override async cancel(op: Op, taskId: string, by: string): Promise<boolean> {
    const asked = await this.requests.cancel(op, taskId, by, 'The task was cancelled.');
    if (asked) this.wakeWorkers(op, true);
    return asked;
  }

  override async wake(op: Op, lockKey: string): Promise<void> {
    await this.requests.wakeByLock(op, lockKey);
    this.wakeWorkers(op, true);
  }

  override settled(taskId: string, timeoutMs: number): Promise<TaskState> {
    return this.settlements.wait(taskId, timeoutMs);
  }

  /** A node reports that an accepted call has ended: its task asks for the outcome at once. */
  async onVerbDone(_hostId: string, key: string): Promise<void> {
    const [taskId] = key.split('/');
    if (taskId === undefined || !/^[0-9a-f-]{36}$/.test(taskId)) return;
    await this.requests.wakeById(this.database.op, taskId);
    this.wakeWorkers(this.database.op, true);
  }

  /** A node reports how far a call is, 0 to 100. Best effort. */
  async onProgress(hostId: string, key: string, percent: number, message: string): Promise<void> {
    const [taskId, step, phase] = key.split('/');
    if (taskId === undefined || step === undefined || phase === undefined || !/^[0-9a-f-]{36}$/.test(taskId)) return;
    const rounded = Math.max(0, Math.min(100, Math.round(percent)));
    await this.requests.progress(this.database.op, taskId, step, phase, hostId, rounded, message.slice(0, 255));
  }

  /** Operators: a stuck task goes on undoing, with its whole time again. 409 `task_not_stuck` otherwise. */
  async retry(op: Op, taskId: string): Promise<void> {
    const task = await this.stuckTask(op, taskId);
    await this.requests.resume(op, taskId, task.cursor);
    this.wakeWorkers(op, true);
  }

  /** Operators: the undo that a stuck task is at counts as done; the others go on. Returns the step's name. */
  async skipStep(op: Op, taskId: string): Promise<string | null> {
    const task = await this.stuckTask(op, taskId);
    const step = await this.requests.firstToUndo(op, taskId);
    if (step) await this.requests.skipUndo(op, taskId, step.seq, step.name);
    await this.requests.resume(op, taskId, step ? step.seq - 1 : task.cursor);
    this.wakeWorkers(op, true);
    return step?.name ?? null;
  }

  /** Operators: a stuck task ends as failed, not undone; what it left behind is the operator's business. Frees its lock. */
  async abandon(op: Op, taskId: string): Promise<void> {
    const task = await this.stuckTask(op, taskId);
    await this.endStuck(op, task, 'It was abandoned by an operator; what it had made may still be there.');
  }

  /** The steps of a type and version in order; empty when this process does not know it. */
  outline(type: string, version: number): StepOutline[] {
    return (this.registry.get(type, version)?.steps ?? []).map((step) => ({ name: step.name, title: step.spec.title ?? step.name }));
  }

  private async open(): Promise<void> {
    const known = new Set(this.registry.keys());
    const unknown = (await this.requests.liveKeys()).filter((key) => !known.has(key));
    if (unknown.length > 0) {
      throw new Error(`the database has live tasks of workflows that this version does not know: ${unknown.join(', ')}. Run the version that started them until they have ended.`);
    }
    this.unlisten = await this.database.listen(wakeChannel, () => this.pump.kick());
    this.stopping = false;
    this.pump.start();
  }

  private async queue<I>(op: Op, definition: WorkflowDefinition<I, never>, input: I, options: StartOptions): Promise<StartedTask> {
    const known = definition as unknown as AnyDefinition;
    if (!this.registry.has(known)) throw new Error(`workflow ${definition.type}@${definition.options.version} is not registered`);
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
    };
    const joined = await this.insert(op, task, definition.options.preempts ?? []);
    if (joined !== undefined) return { id: joined, created: false };
    this.metrics.started.inc({ type: task.type });
    await this.outbox.publish(op, {
      type: 'task.created',
      projectId: task.projectId,
      subject: { kind: 'task', id: task.id },
      data: { id: task.id, type: task.type, state: 'queued', projectId: task.projectId, subject: task.subject, progress: 0, step: task.firstStep, error: null, createdBy: task.createdBy },
    });
    this.wakeWorkers(op, false);
    return { id: task.id, created: true };
  }

  /** Returns the id of the live task that the start joins, undefined when the task was inserted. */
  private async insert(op: Op, task: NewTask, preempts: readonly string[]): Promise<string | undefined> {
    // The holder may end between the insert and the look at it; each round sees a newer state of the database.
    for (let round = 0; round < 20; round++) {
      if (await this.requests.insert(op, task)) return undefined;
      const lockKey = task.lockKey ?? '';
      const holder = await this.requests.lockHolder(op, lockKey);
      if (!holder) continue;
      const preempting = preempts.length > 0;
      const superior = preempts.includes(holder.type);
      if (holder.state === 'stuck' && (superior || (preempting && holder.type === task.type))) {
        await this.endStuck(op, { ...holder, lockKey, hasWaiter: false, version: 0, cursor: 0 }, `Task ${task.id} goes on from there.`);
        continue;
      }
      if (preempting && holder.type === task.type) return holder.id;
      if (!superior) {
        throw conflict('task_running', `Task ${holder.id} (${holder.type}) is still at work on this ${task.subject.kind}. Wait for it, or cancel it.`, { task: { id: holder.id, type: holder.type } });
      }
      const waiter = await this.requests.waiterOf(op, lockKey, task.type);
      if (waiter !== undefined) return waiter;
      await this.requests.insert(op, { ...task, lockState: 'waiting' });
      await this.requests.preempt(op, holder.id, `task:${task.id}`, `Cancelled: ${task.type} was asked for the same ${task.subject.kind}.`);
      return undefined;
    }
    throw conflict('task_running', `Other tasks keep this ${task.subject.kind} busy. Try again.`);
  }

  private async endStuck(op: Op, task: OperatedTask, hint: string): Promise<void> {
    await this.requests.endStuck(op, task.id, { hint });
    if (task.hasWaiter && task.lockKey !== null) await this.requests.handOver(op, task.lockKey);
    op.afterCommit(() => this.settlements.settled(task.id, 'failed'));
    this.wakeWorkers(op, true);
  }

  private async stuckTask(op: Op, taskId: string): Promise<OperatedTask> {
    const task = await this.requests.forOperator(op, taskId);
    if (!task) throw notFound('task', taskId);
    if (task.state !== 'stuck') throw conflict('task_not_stuck', `The task is ${task.state}; this is only for stuck tasks.`, { state: task.state });
    return task;
  }

  /**
   * After the commit: looks for due tasks here, and tells the other processes when the task may be theirs (`everywhere`: it belongs to a
   * worker already) or this one has no room. A lost notification costs at most one poll.
   */
  private wakeWorkers(op: Op, everywhere: boolean): void {
    op.afterCommit(() => {
      const here = this.pump.hasRoom;
      this.pump.kick();
      if (here && !everywhere) return;
      this.announcing ??= setImmediate(() => {
        this.announcing = undefined;
        this.requests.notify(wakeChannel, '').catch((error: unknown) => this.log.debug({ err: error }, 'workers were not notified'));
      });
    });
  }
}
