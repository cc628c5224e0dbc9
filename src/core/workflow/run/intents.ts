import { injectable } from 'inversify';
import { atOnce } from '../../db/at-once';
import type { Op } from '../../db/rows/op';
import { NodeCaller } from '../../m2m/management/node-caller';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import type { Seen, StepWrite } from '../storage/task-row';
import { Checkpoints, type Remember } from './checkpoints';
import type { AboutToCall, IntendedCall } from './intended-call';
import type { RunState } from './run-state';
import { TaskEvents } from './task-events';
import { TaskSlots } from './task-slots';
import { Workload } from './workload';

/** Calls that leave in one request at most. */
const callsPerRequest = 8;

/** Where it is stored that calls to a host are about to happen, together with a slot at the host. */
@injectable()
export class Intents {
  constructor(
    private readonly transactions: EngineTransactions,
    private readonly store: TaskRunRepository,
    private readonly nodes: NodeCaller,
    private readonly checkpoints: Checkpoints,
    private readonly slots: TaskSlots,
    private readonly events: TaskEvents,
    private readonly workload: Workload,
  ) {}

  /** In a transaction of their own, with the checkpoints that are carried: one call, or several to the same host. */
  async alone(run: RunState, calls: readonly AboutToCall[]): Promise<IntendedCall[]> {
    const { seq, phase } = first(calls).write;
    const carried = phase === 'run' ? this.checkpoints.carried(run) : [];
    const at =
      carried.length > 0
        ? { cursor: seq, progress: run.progressAt(seq) }
        : { cursor: run.cursor, progress: run.progress };
    const { args, seen } = await this.transactions.run((op) => this.write(run, op, calls, carried, at, true));
    this.remember(run, [], calls, seen, at);
    if (carried.length > 0) await this.checkpoints.carriedIsStored(run);
    return calls.map((one, index) => ({ ...one, args: args[index] }));
  }

  /**
   * In the transaction of the steps before them, which `writes` are: they share one commit. Null when the next step is no
   * call, or none that leaves with them: then the steps before it are not stored either. Throws as `alone`: what the
   * arguments wrote must not be there without the call, so all of it is rolled back and taken one by one.
   */
  async with(run: RunState, op: Op, writes: readonly StepWrite[]): Promise<Remember | null> {
    const seq = (writes[writes.length - 1]?.seq ?? -1) + 1;
    const step = run.steps[seq];
    if (step?.kind !== 'remote' || run.row(seq, 'run') || run.singly || this.workload.stopping) return null;
    if (step.spec.when && !step.spec.when(run.stepContext(1))) return null;
    const calls = this.leavingWith(run, seq);
    const at = { cursor: seq, progress: run.progressAt(seq) };
    const { args, seen } = await this.write(run, op, calls, writes, at, false);
    return () => {
      this.remember(run, writes, calls, seen, at);
      run.intended = calls.map((one, index) => ({ ...one, args: args[index] }));
    };
  }

  /** The call of this step, and those of the steps after it that leave in the same request. */
  leavingWith(run: RunState, seq: number): AboutToCall[] {
    const calls: AboutToCall[] = [];
    for (let at = seq; at < seq + callsPerRequest; at += 1) {
      const step = run.steps[at];
      if (step?.kind !== 'remote') break;
      const { name, spec } = step;
      const attempt = run.nextAttempt(at, 'run');
      const context = run.stepContext(attempt);
      // One that may have been begun before goes by itself, and so do those after it.
      if (at > seq && !this.mayFollow(run, at)) break;
      if (at > seq && (!spec.together || (spec.when && !spec.when(context)))) break;
      const hostId = spec.node(context);
      if (at > seq && hostId !== calls[0]?.write.hostId) break;
      const write = { seq: at, name, phase: 'run' as const, state: 'running' as const, attempt, hostId, call: 0 };
      calls.push({ call: spec, write });
    }
    return calls;
  }

  private mayFollow(run: RunState, seq: number): boolean {
    if (run.singly || run.row(seq, 'run') || run.row(seq - 1, 'run')) return false;
    if (run.task.version !== run.definition.options.version) return false;
    const before = run.steps[seq - 1];
    return before?.kind === 'remote' && this.nodes.takesCallsInTurn(before.spec.node(run.stepContext(1)));
  }

  private async write(
    run: RunState,
    op: Op,
    calls: readonly AboutToCall[],
    before: readonly StepWrite[],
    at: { cursor: number; progress: number },
    only: boolean,
  ): Promise<{ args: unknown[]; seen: Seen }> {
    const { name, phase, hostId } = first(calls).write;
    const limit = this.slots.hostLimit(run, hostId);
    await this.slots.freeHosts(run, op, `host/${hostId}`);
    const args = await atOnce(
      ...calls.map(async ({ call, write }) => await call.args(run.txContext(op, write.attempt))),
    );
    await this.events.step(run, op, name);
    // Of several steps' statements, one may have to follow where this one comes to nothing.
    if (only) op.last();
    const writes = [...before, ...calls.map(({ write }) => write)];
    const unlessCancelled = phase === 'run' && run.cancellable;
    return { args, seen: await this.store.intent(op, run.hold, writes, { ...at, step: name }, unlessCancelled, limit) };
  }

  private remember(
    run: RunState,
    before: readonly StepWrite[],
    calls: readonly AboutToCall[],
    seen: Seen,
    at: { cursor: number; progress: number },
  ): void {
    run.slots.add(`host/${first(calls).write.hostId}`);
    for (const write of before) run.wrote(write);
    for (const { write } of calls) run.wrote(write);
    run.saw(seen);
    Object.assign(run, at);
  }
}

const first = <T>(all: readonly T[]): T => {
  const [one] = all;
  if (one === undefined) throw new Error('an intent needs a call');
  return one;
};
