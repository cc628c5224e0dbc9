import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { inject, injectable, optional } from 'inversify';
import type { Logger } from 'pino';
import { Database } from '../db/database';
import type { Op } from '../db/op';
import { Outbox } from '../events/outbox';
import { NodeCaller } from '../m2m/node-caller';
import type { VerbEvents } from '../m2m/verb-events';
import { Logging } from '../telemetry/logging';
import { Metrics } from '../telemetry/metrics';
import type { WorkflowDefinition } from './definition';
import { DefinitionRegistry, type AnyDefinition, type RegistrableDefinition } from './definition-registry';
import { Gate } from './gate';
import { LeaseKeeper } from './lease-keeper';
import type { RunServices } from './run-services';
import { Settlements } from './settlements';
import { StepProgress } from './step-progress';
import { TaskPump } from './task-pump';
import { TaskChildrenRepository } from './task-children.repository';
import { TaskQueue } from './task-queue';
import { TaskRequestRepository } from './task-request.repository';
import { TaskRunRepository } from './task-run.repository';
import { wakeChannel, WakeUps } from './wake-ups';
import { WorkflowMetrics } from './workflow-metrics';
import { WorkflowProbe } from './workflow-probe';
import { WorkflowSettings } from './workflow-settings';
import { finalStates, Workflows, type StartedTask, type StartOptions, type TaskState } from './workflows';

export interface StepOutline {
  name: string;
  title: string;
  /** It leaves something that a failure removes again. */
  undo: boolean;
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
  private readonly wakeUps: WakeUps;
  private readonly queue: TaskQueue;
  private readonly progress: StepProgress;
  private readonly pump: TaskPump;
  private stopping = false;
  private unlisten: (() => Promise<void>) | undefined;

  constructor(
    private readonly database: Database,
    nodes: NodeCaller,
    outbox: Outbox,
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
    this.progress = new StepProgress(database, this.requests, outbox);
    const children = new TaskChildrenRepository();
    this.wakeUps = new WakeUps(database, this.requests, () => this.pump, this.log);
    this.queue = new TaskQueue(
      this.requests,
      children,
      this.registry,
      outbox,
      this.metrics,
      this.settlements,
      this.wakeUps,
    );
    const services: RunServices = {
      owner,
      database,
      gate: new Gate(Math.max(2, Math.floor(database.poolSize * 0.6))),
      store,
      requests: this.requests,
      children,
      queue: this.queue,
      wakeUps: this.wakeUps,
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

  /**
   * Makes definitions known, before `start()`. Throws when one could not be undone: a step has neither an undo nor a
   * stated reason for none.
   */
  register(definitions: readonly RegistrableDefinition[]): void {
    for (const definition of definitions) this.registry.register(definition as unknown as AnyDefinition);
  }

  /**
   * Without arguments: begins to run tasks; refuses while a live task has a type or version that is not registered.
   * With arguments: queues a task, as `Workflows.start` says; also in a process that runs none.
   */
  override async start<I>(
    op: Op,
    definition: WorkflowDefinition<I, never>,
    input: I,
    options: StartOptions,
  ): Promise<StartedTask>;
  override async start(): Promise<void>;
  override async start<I>(
    op?: Op,
    definition?: WorkflowDefinition<I, never>,
    input?: I,
    options?: StartOptions,
  ): Promise<StartedTask | void> {
    if (op && definition && options) return this.queue.add(op, definition, input as I, options);
    return this.open();
  }

  /** Ends claiming, lets steps under way finish for a moment, and gives the tasks back for others to go on at once. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.unlisten?.();
    await this.pump.stop(this.settings.stopGraceMs);
    await this.wakeUps.stop();
    await this.settlements.close();
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

  override settled(taskId: string, timeoutMs: number): Promise<TaskState> {
    return this.settlements.wait(taskId, timeoutMs);
  }

  /** A node reports that an accepted call has ended: its task asks for the outcome at once. */
  async onVerbDone(_hostId: string, key: string): Promise<void> {
    this.progress.forget(key);
    const [taskId] = key.split('/');
    if (taskId === undefined || !/^[0-9a-f-]{36}$/.test(taskId)) return;
    await this.requests.wakeById(this.database.op, taskId);
    this.wakeUps.workers(this.database.op, true);
  }

  /** A node reports how far a call is, 0 to 100. Best effort. */
  async onProgress(hostId: string, key: string, percent: number, message: string): Promise<void> {
    await this.progress.report(hostId, key, percent, message);
  }

  /** Operators: a stuck task goes on undoing, with its whole time again. 409 `task_not_stuck` otherwise. */
  async retry(op: Op, taskId: string): Promise<void> {
    const task = await this.queue.stuckTask(op, taskId);
    await this.requests.resume(op, taskId, task.cursor);
    this.wakeUps.workers(op, true);
  }

  /** Operators: the undo that a stuck task is at counts as done; the others go on. Returns the step's name. */
  async skipStep(op: Op, taskId: string): Promise<string | null> {
    const task = await this.queue.stuckTask(op, taskId);
    const step = await this.requests.firstToUndo(op, taskId);
    if (step) await this.requests.skipUndo(op, taskId, step.seq, step.name);
    await this.requests.resume(op, taskId, step ? step.seq - 1 : task.cursor);
    this.wakeUps.workers(op, true);
    return step?.name ?? null;
  }

  /**
   * Operators: a stuck task ends as failed, not undone; what it left behind is the operator's business. Frees its lock.
   */
  async abandon(op: Op, taskId: string): Promise<void> {
    const task = await this.queue.stuckTask(op, taskId);
    await this.queue.endStuck(op, task, 'It was abandoned by an operator; what it had made may still be there.');
  }

  /** The steps of a type and version in order; empty when this process does not know it. */
  outline(type: string, version: number): StepOutline[] {
    return (this.registry.get(type, version)?.steps ?? []).map((step) => ({
      name: step.name,
      title: step.spec.title ?? step.name,
      undo: step.kind !== 'wait' && step.spec.undo !== undefined,
    }));
  }

  /** Why a task of the type and version can't be cancelled once it has begun; undefined when it can. */
  goesForward(type: string, version: number): string | undefined {
    return this.registry.get(type, version)?.options.goesForward;
  }

  private async open(): Promise<void> {
    const known = new Set(this.registry.keys());
    const unknown = (await this.requests.liveKeys()).filter((key) => !known.has(key));
    if (unknown.length > 0) {
      throw new Error(
        `the database has live tasks of workflows that this version does not know: ${unknown.join(', ')}. Run the version that started them until they have ended.`,
      );
    }
    this.unlisten = await this.database.listen(wakeChannel, () => this.pump.kick());
    this.stopping = false;
    this.pump.start();
  }
}
