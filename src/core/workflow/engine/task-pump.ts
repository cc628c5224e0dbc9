import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import type { Op } from '../../db/rows/op';
import { Logging } from '../../telemetry/logging';
import { DefinitionRegistry } from '../definition/definition-registry';
import type { LocalWorker } from '../request/wake-ups';
import { RunState } from '../run/run-state';
import { TaskRunner } from '../run/task-runner';
import { Workload } from '../run/workload';
import type { Worker } from '../storage/task-request.repository';
import type { ClaimedTask } from '../storage/task-row';
import { TaskRunRepository } from '../storage/task-run.repository';
import { WorkflowMetrics } from '../workflow-metrics';
import { WorkflowSettings } from '../workflow-settings';
import { LeaseKeeper } from './lease-keeper';
import { WorkerIdentity } from './worker-identity';

/** Most tasks that one claim takes, so that several processes share a burst. */
const claimAtOnce = 16;

/**
 * With a backlog one claim in so many takes those that have waited longest, so that background tasks are late but do
 * not starve.
 */
const oldestFirstEvery = 8;

const nilProject = '00000000-0000-0000-0000-000000000000';

/** Claims due tasks while there is room and runs them. */
@injectable()
export class TaskPump implements LocalWorker {
  private readonly log: Logger;
  private readonly running = new Set<RunState>();
  private readonly idle: (() => void)[] = [];
  /** How many tasks of transactions under way are to begin here with the commit. */
  private promised = 0;
  /** The last claim took as many as it could: more may be due, and then whose turn it is counts. */
  private backlog = false;
  private claims = 0;
  private pumping = false;
  private again = false;
  private open = false;
  private poll: NodeJS.Timeout | undefined;
  private alarm: NodeJS.Timeout | undefined;
  private alarmAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly runner: TaskRunner,
    private readonly registry: DefinitionRegistry,
    private readonly store: TaskRunRepository,
    private readonly leases: LeaseKeeper,
    private readonly worker: WorkerIdentity,
    private readonly workload: Workload,
    private readonly metrics: WorkflowMetrics,
    private readonly settings: WorkflowSettings,
    logging: Logging,
  ) {
    this.log = logging.for('workflow');
  }

  /** True when a task that is queued now would be claimed here at once. */
  get hasRoom(): boolean {
    return this.open && this.running.size < this.settings.concurrency;
  }

  /**
   * A task for which there is room, and that no other waits before, begins with the commit that makes it: what a claim
   * would write is in its row from the start. Never outside of a transaction, nor more than there is room for.
   */
  workerFor(op: Op): Worker | null {
    if (!op.inTransaction || !this.hasRoom || this.again || this.pumping || this.backlog) return null;
    if (this.running.size + this.promised >= this.settings.concurrency) return null;
    this.promised += 1;
    op.afterEnd(() => (this.promised -= 1));
    return { owner: this.worker.owner, leaseMs: this.settings.leaseMs };
  }

  async begin(task: ClaimedTask, sentAt: number): Promise<boolean> {
    const definition = this.registry.get(task.type, task.version);
    const { owner } = this.worker;
    if (definition && this.hasRoom) {
      this.launch(new RunState(task, definition, owner, sentAt, this.settings.leaseMs));
      return true;
    }
    await this.store.release({ taskId: task.id, owner, fence: task.fence }, 0);
    return false;
  }

  start(): void {
    this.open = true;
    // eslint-disable-next-line no-restricted-globals -- the fallback of a loop that notices wake
    this.poll = setInterval(() => this.kick(), Math.max(1_000, this.settings.pollMs)).unref();
    this.kick();
  }

  /** Claims no more; resolves when no run is left, aborting what is still under way after the grace. */
  async stop(graceMs: number): Promise<void> {
    this.open = false;
    clearInterval(this.poll);
    clearTimeout(this.alarm);
    const abort = setTimeout(() => {
      for (const run of this.running) run.abort.abort(new Error('the process stops'));
    }, graceMs);
    while (this.running.size > 0 || this.pumping) await new Promise<void>((resolve) => this.idle.push(resolve));
    clearTimeout(abort);
  }

  /** Looks for due tasks now. */
  kick(): void {
    if (!this.open) return;
    this.again = true;
    if (!this.pumping) void this.pump();
  }

  /**
   * Looks for due tasks in so many milliseconds; the earliest wish counts, later ones are found by then or by the poll.
   */
  dueIn(ms: number): void {
    if (!this.open) return;
    if (ms <= 0) return this.kick();
    const at = performance.now() + ms + 2;
    if (at >= this.alarmAt || ms > 3_600_000) return;
    clearTimeout(this.alarm);
    this.alarmAt = at;
    this.alarm = setTimeout(() => {
      this.alarmAt = Number.POSITIVE_INFINITY;
      this.kick();
    }, ms + 2).unref();
  }

  private async pump(): Promise<void> {
    const { settings, store } = this;
    const { owner } = this.worker;
    this.pumping = true;
    try {
      while (this.again && this.hasRoom) {
        this.again = false;
        const room = Math.min(settings.concurrency - this.running.size, claimAtOnce);
        const sent = performance.now();
        const inFairOrder = this.backlog && ++this.claims % oldestFirstEvery !== 0;
        const tasks = await store.claim(
          owner,
          this.registry.keys(),
          room,
          settings.leaseMs,
          inFairOrder ? this.atWork() : undefined,
        );
        for (const task of tasks) {
          const definition = this.registry.get(task.type, task.version);
          if (definition) this.launch(new RunState(task, definition, owner, sent, settings.leaseMs));
        }
        // In turn, others may have locked what this process had picked: only an empty answer says that nothing is left.
        this.backlog = inFairOrder ? tasks.length > 0 : tasks.length === room;
        if (this.backlog) this.again = true;
      }
    } catch (error) {
      this.log.warn({ err: error }, 'due tasks could not be claimed; the next poll tries again');
    } finally {
      this.pumping = false;
      this.wakeIdle();
    }
  }

  /** Tasks at work here, by project; those of the system under the nil id. */
  private atWork(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { task } of this.running) {
      const project = task.projectId ?? nilProject;
      counts[project] = (counts[project] ?? 0) + 1;
    }
    return counts;
  }

  private launch(run: RunState): void {
    this.running.add(run);
    this.leases.add(run);
    this.count();
    void this.runner.run(run).finally(() => {
      this.running.delete(run);
      this.leases.remove(run);
      this.count();
      this.wakeIdle();
      if (this.again) this.kick();
    });
  }

  private count(): void {
    this.workload.running = this.running.size;
    this.metrics.running.set(this.running.size);
  }

  private wakeIdle(): void {
    if (this.running.size === 0 && !this.pumping) for (const resolve of this.idle.splice(0)) resolve();
  }
}
