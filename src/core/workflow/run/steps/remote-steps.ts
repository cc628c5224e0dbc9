import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import { NodeCaller } from '../../../m2m/management/node-caller';
import type { RemoteCall, RemoteUndoCall } from '../../definition/definition';
import { PermanentError } from '../../definition/workflow-error';
import { EngineTransactions } from '../../storage/engine-transactions';
import { TaskRunRepository } from '../../storage/task-run.repository';
import type { StepRow, StepWrite } from '../../storage/task-row';
import { WorkflowSettings } from '../../workflow-settings';
import { Checkpoints } from '../checkpoints';
import { jsonOutput } from '../json-output';
import type { RunState, StepEnd } from '../run-state';
import { StepObserver } from '../step-observer';
import { TaskEvents } from '../task-events';
import { TaskSleep } from '../task-sleep';
import { TaskSlots } from '../task-slots';
import { type StepKind, type StepOf, stepTimedOut } from './step-kind';
import { LeaseLost } from '../../storage/interruptions';

type Call =
  | RemoteCall<unknown, Record<string, unknown>, unknown, unknown>
  | RemoteUndoCall<unknown, Record<string, unknown>, unknown, unknown>;

/** What one look at a call came to. `skip`: no node can have been reached. */
type CallEnd = { end: 'done'; output: unknown } | { end: 'skip' } | { end: 'asleep' };

/** Which call of a task: a step, a direction, and how long it may take. */
interface CallOf {
  seq: number;
  name: string;
  phase: 'run' | 'undo';
  /** On the database's clock. */
  deadline: number;
}

/** Steps on a node: at least once, made idempotent by their key and the task's fence. */
@injectable()
export class RemoteSteps implements StepKind<'remote'> {
  constructor(
    private readonly transactions: EngineTransactions,
    private readonly store: TaskRunRepository,
    private readonly nodes: NodeCaller,
    private readonly checkpoints: Checkpoints,
    private readonly slots: TaskSlots,
    private readonly sleep: TaskSleep,
    private readonly events: TaskEvents,
    private readonly observer: StepObserver,
    private readonly settings: WorkflowSettings,
  ) {}

  async forward(run: RunState, step: StepOf<'remote'>, seq: number): Promise<StepEnd> {
    const since = performance.now();
    const { name, spec } = step;
    if (!run.row(seq, 'run') && spec.when && !spec.when(run.stepContext(1))) {
      const skipped: StepWrite = { seq, name, phase: 'run', state: 'skipped', attempt: 0 };
      return this.checkpoints.passed(run, step, await this.checkpoints.alone(run, skipped), since);
    }
    const deadline = run.deadlineOf(seq, spec.timeout);
    if (run.now() >= deadline) throw stepTimedOut(spec.timeout);
    const got = await this.call(run, spec, { seq, name, phase: 'run', deadline });
    if (got.end === 'asleep') return 'asleep';
    if (got.end === 'skip') throw new PermanentError('step_without_host', `No host is known for the step "${name}".`);
    const attempt = run.row(seq, 'run')?.attempt ?? 1;
    const write: StepWrite = { seq, name, phase: 'run', state: 'succeeded', attempt, output: got.output };
    if (!this.checkpoints.carry(run, write))
      return this.checkpoints.passed(run, step, await this.checkpoints.alone(run, write), since);
    this.observer.took(run, name, 'run', since);
    return 'next';
  }

  async undo(run: RunState, step: StepOf<'remote'>, seq: number): Promise<StepEnd> {
    const { name, spec } = step;
    if (!spec.undo) return 'next';
    const got = await this.call(run, spec.undo, { seq, name, phase: 'undo', deadline: run.undoUntil });
    if (got.end === 'asleep') return 'asleep';
    const attempt = run.row(seq, 'undo')?.attempt ?? 1;
    const state = got.end === 'skip' ? 'skipped' : 'succeeded';
    const remember = await this.transactions.alone((op) =>
      this.checkpoints.backward(run, op, { seq, name, phase: 'undo', state, attempt }),
    );
    remember();
    return 'next';
  }

  /** One attempt, or one look after an accepted one. Throws what the call threw. */
  private async call(run: RunState, call: Call, of: CallOf): Promise<CallEnd> {
    const { seq, name, phase } = of;
    const row = run.row(seq, phase);
    const number = row?.call ?? 0;
    const key = `${run.task.id}/${name}/${phase}${number > 0 ? `/${number}` : ''}`;
    if (row?.accepted && row.hostId) {
      run.assertHeld();
      const outcome = await this.nodes.outcome(row.hostId, call.verb, key);
      if (outcome.done) return { end: 'done', output: jsonOutput(outcome.result) };
      return this.awaitNode(run, row, of.deadline);
    }
    const attempt = run.nextAttempt(seq, phase);
    const hostId = call.node(run.stepContext(attempt));
    if (hostId === undefined) return { end: 'skip' };
    const args = await this.intend(run, call, { seq, name, phase, state: 'running', attempt, hostId, call: number });
    await this.observer.at(run, name, phase, 'before-effect');
    run.assertHeld();
    const outcome = await this.nodes.call(hostId, call.verb, args, {
      key,
      fence: Number(run.task.fence),
      signal: run.abort.signal,
      ...(run.task.requestId !== null && { requestId: run.task.requestId }),
    });
    run.assertHeld();
    await this.observer.at(run, name, phase, 'after-effect');
    if (outcome.done) return { end: 'done', output: jsonOutput(outcome.result) };
    const started = run.row(seq, phase);
    if (!started) throw new LeaseLost(run.task.id);
    return this.awaitNode(run, started, of.deadline);
  }

  /**
   * Takes a slot at the host and stores that the call is about to happen, with the checkpoint that is carried. Returns
   * the call's arguments.
   */
  private async intend(run: RunState, call: Call, write: StepWrite & { hostId: string }): Promise<unknown> {
    const { seq, name, phase, hostId } = write;
    const limit = this.slots.hostLimit(run, hostId);
    const carried = phase === 'run' ? this.checkpoints.carried(run) : [];
    const at =
      carried.length > 0
        ? { cursor: seq, progress: run.progressAt(seq) }
        : { cursor: run.cursor, progress: run.progress };
    const { args, seen } = await this.transactions.run(async (op) => {
      await this.slots.freeHosts(run, op, `host/${hostId}`);
      const computed = await call.args(run.txContext(op, write.attempt));
      await this.events.step(run, op, name);
      op.last();
      const stored = { ...at, step: name };
      return {
        args: computed,
        seen: await this.store.intent(
          op,
          run.hold,
          [...carried, write],
          stored,
          phase === 'run' && run.cancellable,
          limit,
        ),
      };
    });
    run.slots.add(`host/${hostId}`);
    run.saw(seen);
    run.wrote(write);
    Object.assign(run, at);
    if (carried.length > 0) await this.checkpoints.carriedIsStored(run);
    return args;
  }

  /**
   * Sleeps until the node's event or the next question for the outcome; the pauses double with the time that the step
   * has taken.
   */
  private async awaitNode(run: RunState, row: StepRow, deadline: number): Promise<CallEnd> {
    const { outcomePollMs, outcomePollMaxMs } = this.settings;
    const now = run.now();
    const pause = Math.min(
      outcomePollMaxMs,
      Math.max(outcomePollMs, (now - row.startedAt) / 2),
      Math.max(1, deadline - now),
    );
    const { seq, name, phase, attempt, hostId, call } = row;
    const write: StepWrite = { seq, name, phase, state: 'running', attempt, hostId, accepted: true, call };
    await this.transactions.alone((op) => this.sleep.nap(run, op, write, pause));
    return { end: 'asleep' };
  }
}
