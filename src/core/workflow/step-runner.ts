import { performance } from 'node:perf_hooks';
import type { Op } from '../db/op';
import type { RemoteCall, RemoteUndoCall } from './definition';
import { parseDuration } from './duration';
import { LeaseLost } from './lease-lost';
import type { RunServices } from './run-services';
import { inTransaction } from './run-services';
import type { RunState } from './run-state';
import type { Limit } from './no-place';
import type { Awaits, StepRow, StepWrite } from './task-row';
import type { ProbeBoundary } from './workflow-probe';
import { publishTask } from './task-event';

/** What a step came to: it is over, or the task went to sleep and the worker has nothing more to do with it. */
export type StepEnd = 'next' | 'asleep';

type Call =
  | RemoteCall<unknown, Record<string, unknown>, unknown, unknown>
  | RemoteUndoCall<unknown, Record<string, unknown>, unknown, unknown>;

/** Outputs as they will be read after a resume: JSON, so that a run behaves the same with and without one. */
export const jsonOutput = (value: unknown): unknown => {
  if (value === undefined || value === null || typeof value !== 'object') return value;
  return JSON.parse(JSON.stringify(value)) as unknown;
};

/** Checkpoints of earlier steps, and whom to tell once they are stored. */
interface Unstored {
  writes: readonly StepWrite[];
  /** Of the task with them. */
  progress: number;
  stored: () => Promise<void>;
}

const nothingUnstored: Unstored = { writes: [], progress: 0, stored: () => Promise.resolve() };

/** What both directions share: attempts, remote calls, naps. */
export class StepRunner {
  constructor(
    private readonly services: RunServices,
    private readonly run: RunState,
  ) {}

  probe(step: string, phase: 'run' | 'undo', point: ProbeBoundary['point']): Promise<void> {
    return this.services.probe.at({ taskId: this.run.task.id, type: this.run.task.type, step, phase, point });
  }

  attemptOf(seq: number, phase: 'run' | 'undo'): number {
    return (this.run.row(seq, phase)?.attempt ?? 0) + 1;
  }

  remember(write: StepWrite): void {
    const before = this.run.row(write.seq, write.phase);
    const row: StepRow = {
      seq: write.seq,
      name: write.name,
      phase: write.phase,
      state: write.state,
      attempt: write.attempt,
      hostId: write.hostId ?? before?.hostId ?? null,
      accepted: write.accepted ?? false,
      call: write.call ?? 0,
      hasOutput: write.output !== undefined,
      output: write.output,
      startedAt: before?.startedAt ?? this.run.now(),
    };
    this.run.remember(row);
  }

  observe(type: string, step: string, phase: 'run' | 'undo', since: number): void {
    this.services.metrics.stepSeconds.observe({ type, step, phase }, (performance.now() - since) / 1000);
  }

  /** In the transaction that ends the task: whoever started it as a part of itself learns of it. */
  async tellParent(op: Op, failed: boolean): Promise<void> {
    const { run, services } = this;
    if (run.task.parentId === null) return;
    await services.children.over(op, run.task.parentId, failed);
    services.wakeUps.workers(op, true);
  }

  /** With the commit: the places that this task holds are free for others, but for those that it `keeps`. */
  async freePlaces(op: Op, keeps: (scope: string) => boolean = () => false): Promise<void> {
    const { run, services } = this;
    const scopes = [...run.places].filter((scope) => !keeps(scope));
    if (scopes.length === 0) return;
    await services.store.free(op, run.task.id, scopes);
    op.afterCommit(() => {
      for (const scope of scopes) {
        run.places.delete(scope);
        services.wakeUps.placeFreed({ scope, places: this.placesOf(scope) });
      }
    });
  }

  /** After a call is over: its host's place is another's. */
  freeHosts(op: Op): Promise<void> {
    return this.freePlaces(op, (scope) => !scope.startsWith('host/'));
  }

  /** Sleeps until a place under the limit is free. */
  async park(limit: Limit): Promise<StepEnd> {
    const { services } = this;
    const pause = services.settings.slotRecheckMs * (0.5 + 0.5 * Math.random());
    await services.gate.run(() => this.nap(null, pause, services.database.op, { scope: limit.scope }));
    services.wakeUps.placeFreed(limit);
    return 'asleep';
  }

  private placesOf(scope: string): number {
    return scope.startsWith('host/')
      ? this.services.settings.hostConcurrency
      : (this.run.definition.options.limit ?? 1);
  }

  /** Gives the task back until `ms` have passed or somebody wakes it. Within `op` when the caller has a transaction. */
  async nap(
    write: StepWrite | null,
    ms: number,
    op: Op = this.services.database.op,
    awaits: Awaits = {},
  ): Promise<StepEnd> {
    const due = await this.services.store.nap(op, this.run.hold, write ? [write] : [], this.run.wakeSeq, ms, awaits);
    op.afterCommit(() => this.services.dueIn(due ? 0 : ms));
    return 'asleep';
  }

  /**
   * One attempt of a call to a node, or one look after an accepted one. Returns the output once there is one; `asleep`
   * while the node works on. Throws what the call threw. What is `before` it and not stored yet is stored with its
   * intent. `skip`: the undo says that no node can have been reached.
   */
  async remote(
    seq: number,
    name: string,
    phase: 'run' | 'undo',
    call: Call,
    deadline: number,
    before: Unstored = nothingUnstored,
  ): Promise<{ end: 'done'; output: unknown } | { end: 'skip' } | { end: 'asleep' }> {
    const { run, services } = this;
    const row = run.row(seq, phase);
    const number = row?.call ?? 0;
    const key = `${run.task.id}/${name}/${phase}${number > 0 ? `/${number}` : ''}`;
    if (row?.accepted && row.hostId) {
      run.assertHeld();
      const outcome = await services.nodes.outcome(row.hostId, call.verb, key);
      if (outcome.done) return { end: 'done', output: jsonOutput(outcome.result) };
      return this.awaitNode(row, deadline);
    }
    const attempt = this.attemptOf(seq, phase);
    const hostId = call.node(run.stepContext(attempt));
    if (hostId === undefined) return { end: 'skip' };
    const write: StepWrite = { seq, name, phase, state: 'running', attempt, hostId, call: number };
    const scope = `host/${hostId}`;
    const limit = run.places.has(scope) ? undefined : { scope, places: services.settings.hostConcurrency };
    const intent = await inTransaction(services, async (op) => {
      await this.freePlaces(op, (held) => held === scope || !held.startsWith('host/'));
      const computed = await call.args(run.txContext(op, attempt));
      await publishTask(services, run, op, name);
      op.last();
      const at =
        before.writes.length > 0
          ? { cursor: seq, progress: before.progress }
          : { cursor: run.cursor, progress: run.progress };
      const seen = await services.store.intent(
        op,
        run.hold,
        [...before.writes, write],
        { ...at, step: name },
        phase === 'run' && run.cancellable,
        limit,
      );
      return { ...at, computed, seen };
    });
    run.places.add(scope);
    run.saw(intent.seen);
    this.remember(write);
    Object.assign(run, { cursor: intent.cursor, progress: intent.progress });
    if (before.writes.length > 0) await before.stored();
    await this.probe(name, phase, 'before-effect');
    run.assertHeld();
    const outcome = await services.nodes.call(hostId, call.verb, intent.computed, {
      key,
      fence: Number(run.task.fence),
      signal: run.abort.signal,
      ...(run.task.requestId !== null && { requestId: run.task.requestId }),
    });
    run.assertHeld();
    await this.probe(name, phase, 'after-effect');
    if (outcome.done) return { end: 'done', output: jsonOutput(outcome.result) };
    const started = run.row(seq, phase);
    if (!started) throw new LeaseLost(run.task.id);
    return this.awaitNode(started, deadline);
  }

  /**
   * Sleeps until the node's event or the next question for the outcome; the pauses double with the time that the step
   * has taken.
   */
  private async awaitNode(row: StepRow, deadline: number): Promise<{ end: 'asleep' }> {
    const { settings } = this.services;
    const now = this.run.now();
    const pause = Math.min(
      settings.outcomePollMaxMs,
      Math.max(settings.outcomePollMs, (now - row.startedAt) / 2),
      Math.max(1, deadline - now),
    );
    const write: StepWrite = {
      seq: row.seq,
      name: row.name,
      phase: row.phase,
      state: 'running',
      attempt: row.attempt,
      hostId: row.hostId,
      accepted: true,
      call: row.call,
    };
    await this.services.gate.run(() => this.nap(write, pause));
    return { end: 'asleep' };
  }

  /** End of a step on the database's clock: its own timeout or the task's, whichever comes first. */
  deadlineOf(seq: number, phase: 'run' | 'undo', timeout: Parameters<typeof parseDuration>[0] | undefined): number {
    const { run } = this;
    if (phase === 'undo') return run.undoDeadline ?? Number.POSITIVE_INFINITY;
    const started = run.row(seq, phase)?.startedAt ?? run.now();
    return Math.min(run.task.deadline, timeout ? started + parseDuration(timeout) : Number.POSITIVE_INFINITY);
  }
}
