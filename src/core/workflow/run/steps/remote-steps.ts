import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import { type CallsInTurn, NodeCaller, NodeVerbError } from '../../../m2m/management/node-caller';
import { EngineTransactions } from '../../storage/engine-transactions';
import type { StepRow, StepWrite } from '../../storage/task-row';
import { WorkflowSettings } from '../../workflow-settings';
import { Checkpoints } from '../checkpoints';
import type { AboutToCall, Call, IntendedCall } from '../intended-call';
import { Intents } from '../intents';
import { jsonOutput } from '../json-output';
import type { RunState, StepEnd } from '../run-state';
import { StepObserver } from '../step-observer';
import { TaskSleep } from '../task-sleep';
import { type StepKind, type StepOf, stepTimedOut } from './step-kind';
import { LeaseLost } from '../../storage/interruptions';

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
    private readonly nodes: NodeCaller,
    private readonly checkpoints: Checkpoints,
    private readonly intents: Intents,
    private readonly sleep: TaskSleep,
    private readonly observer: StepObserver,
    private readonly settings: WorkflowSettings,
  ) {}

  async forward(run: RunState, step: StepOf<'remote'>, seq: number): Promise<StepEnd> {
    const since = performance.now();
    const { name, spec } = step;
    const row = run.row(seq, 'run');
    if (!row && spec.when && !spec.when(run.stepContext(1))) {
      const skipped: StepWrite = { seq, name, phase: 'run', state: 'skipped', attempt: 0 };
      return this.checkpoints.passed(run, step, await this.checkpoints.alone(run, [skipped]), since);
    }
    const deadline = run.deadlineOf(seq, spec.timeout);
    if (run.now() >= deadline) throw stepTimedOut(spec.timeout);
    if (row?.accepted && row.hostId) {
      const got = await this.outcome(run, spec, row, { seq, name, phase: 'run', deadline });
      if (got.end !== 'done') return 'asleep';
      const ended = performance.now();
      return this.over(run, [{ step, output: got.output, ended, ms: ended - since }]);
    }
    return this.send(run, await this.calls(run, seq));
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

  /** The calls that are next, stored as begun. */
  private calls(run: RunState, seq: number): Promise<IntendedCall[]> | IntendedCall[] {
    const { intended } = run;
    run.intended = [];
    if (intended[0]?.write.seq === seq) return intended;
    return this.intents.alone(run, this.intents.leavingWith(run, seq));
  }

  /** In one request. Throws what a call threw, when those before it are over and stored. */
  private async send(run: RunState, calls: readonly IntendedCall[]): Promise<StepEnd> {
    for (const { write } of calls) await this.observer.at(run, write.name, 'run', 'before-effect');
    run.assertHeld();
    const { outcomes, error } = await this.ask(run, calls);
    run.assertHeld();
    for (const { write } of calls.slice(0, outcomes.length))
      await this.observer.at(run, write.name, 'run', 'after-effect');
    const done = outcomes.filter((outcome) => outcome.done);
    let ended = performance.now() - done.reduce((sum, { ms }) => sum + ms, 0);
    const over = done.map((outcome, index) => ({
      step: stepAt(run, calls[index]),
      output: jsonOutput(outcome.result),
      ended: (ended += outcome.ms),
      ms: outcome.ms,
    }));
    const next = calls[done.length];
    if (!next) return this.over(run, over);
    if (calls.length > 1) await this.endedEarly(run, calls, over);
    if (error !== undefined) throw error;
    const { seq, name } = next.write;
    const row = run.row(seq, 'run');
    // Neither done nor refused: accepted. Without a word about it, it was not reached.
    if (!row || outcomes.length === done.length)
      throw new NodeVerbError(
        next.write.hostId,
        next.call.verb.name,
        'invalid_answer',
        `The host did not say what became of "${name}".`,
        false,
      );
    const { timeout } = stepAt(run, next).spec;
    await this.awaitNode(run, row, run.deadlineOf(seq, timeout));
    return 'asleep';
  }

  /** Not all of several calls are done: those that are get stored, and those after the next one were not begun. */
  private async endedEarly(run: RunState, calls: readonly IntendedCall[], over: readonly Over[]): Promise<void> {
    run.carried = this.written(run, over);
    for (const { write } of run.carried) run.wrote(write);
    const unsent = calls.slice(over.length + 1).map(({ write }) => write);
    await this.checkpoints.cutShort(run, unsent);
    this.took(run, over);
  }

  private async ask(run: RunState, calls: readonly IntendedCall[]): Promise<CallsInTurn> {
    const [first] = calls;
    if (!first) throw new LeaseLost(run.task.id);
    const { hostId } = first.write;
    const options = this.options(run);
    const inTurn = calls.map(({ call, args, write }) => ({ verb: call.verb, args, key: keyOf(run, write) }));
    if (inTurn.length > 1) return this.nodes.callInTurn(hostId, inTurn, options);
    const since = performance.now();
    const outcome = await this.nodes.call(hostId, first.call.verb, first.args, {
      ...options,
      key: keyOf(run, first.write),
    });
    return { outcomes: [{ ...outcome, ms: performance.now() - since }] };
  }

  private written(run: RunState, over: readonly Over[]): { write: StepWrite; ended: number }[] {
    return over.map(({ step, output, ended }) => {
      const seq = run.steps.indexOf(step);
      const attempt = run.row(seq, 'run')?.attempt ?? 1;
      return { write: { seq, name: step.name, phase: 'run', state: 'succeeded', attempt, output }, ended };
    });
  }

  /** Their checkpoints are carried, or stored at once. */
  private async over(run: RunState, over: readonly Over[]): Promise<StepEnd> {
    const ended = this.written(run, over);
    if (!this.checkpoints.carry(run, ended)) {
      const now = performance.now();
      const writes = ended.map((one) => ({ ...one.write, endedMsAgo: now - one.ended }));
      (await this.checkpoints.alone(run, writes))();
      for (const { name } of writes) await this.observer.at(run, name, 'run', 'after-checkpoint');
    }
    this.took(run, over);
    return 'next';
  }

  private took(run: RunState, over: readonly Over[]): void {
    for (const { step, ms } of over) this.observer.took(run, step.name, 'run', performance.now() - ms);
  }

  private options(run: RunState): { fence: number; signal: AbortSignal; requestId?: string } {
    const { fence, requestId } = run.task;
    return { fence: Number(fence), signal: run.abort.signal, ...(requestId !== null && { requestId }) };
  }

  /** One attempt of an undo, or one look after an accepted one. Throws what the call threw. */
  private async call(run: RunState, call: Call, of: CallOf): Promise<CallEnd> {
    const { seq, name, phase } = of;
    const row = run.row(seq, phase);
    if (row?.accepted && row.hostId) return this.outcome(run, call, row, of);
    const attempt = run.nextAttempt(seq, phase);
    const hostId = call.node(run.stepContext(attempt));
    if (hostId === undefined) return { end: 'skip' };
    const write = { seq, name, phase, state: 'running' as const, attempt, hostId, call: row?.call ?? 0 };
    const intended = await this.intents.alone(run, [{ call, write }]);
    await this.observer.at(run, name, phase, 'before-effect');
    run.assertHeld();
    const [outcome] = (await this.ask(run, intended)).outcomes;
    run.assertHeld();
    await this.observer.at(run, name, phase, 'after-effect');
    if (outcome?.done) return { end: 'done', output: jsonOutput(outcome.result) };
    const started = run.row(seq, phase);
    if (!started) throw new LeaseLost(run.task.id);
    return this.awaitNode(run, started, of.deadline);
  }

  /** What became of an accepted call. */
  private async outcome(run: RunState, call: Call, row: StepRow, of: CallOf): Promise<CallEnd> {
    run.assertHeld();
    const outcome = await this.nodes.outcome(row.hostId ?? '', call.verb, keyOf(run, row));
    return outcome.done ? { end: 'done', output: jsonOutput(outcome.result) } : this.awaitNode(run, row, of.deadline);
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

/** A call that is done. `ended` on the clock of `performance.now()`; `ms`: how long it took. */
interface Over {
  step: StepOf<'remote'>;
  output: unknown;
  ended: number;
  ms: number;
}

const stepAt = (run: RunState, call: AboutToCall | undefined): StepOf<'remote'> => {
  const step = run.steps[call?.write.seq ?? -1];
  if (step?.kind !== 'remote') throw new LeaseLost(run.task.id);
  return step;
};

const keyOf = (run: RunState, { name, phase, call = 0 }: Pick<StepWrite, 'name' | 'phase' | 'call'>): string =>
  `${run.task.id}/${name}/${phase}${call > 0 ? `/${call}` : ''}`;
