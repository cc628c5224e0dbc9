import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Op } from '../../../db/rows/op';
import type { AnyStep } from '../../definition/definition';
import { EngineTransactions } from '../../storage/engine-transactions';
import type { StepWrite } from '../../storage/task-row';
import { Checkpoints } from '../checkpoints';
import { Intents } from '../intents';
import { jsonOutput } from '../json-output';
import type { RunState, StepEnd } from '../run-state';
import { StepObserver } from '../step-observer';
import type { StepKind, StepOf } from './step-kind';
import { LeaseLost } from '../../storage/interruptions';

/** Times on the clock of `performance.now()`. */
interface TimedWrite {
  write: StepWrite;
  started: number;
  ended: number;
}

/** Steps that share one commit at most, and how long they may hold its locks together before it. */
const stepsPerCommit = 8;
const longestCommitMs = 100;

/** Steps inside the database: effect and checkpoint in one commit. */
@injectable()
export class TxSteps implements StepKind<'tx'> {
  constructor(
    private readonly transactions: EngineTransactions,
    private readonly checkpoints: Checkpoints,
    private readonly intents: Intents,
    private readonly observer: StepObserver,
  ) {}

  /**
   * Steps that follow each other share one checkpoint and commit, and so do the intents of calls after them: several cost
   * little more than one. When a later one fails, all are rolled back, and this run takes them one by one: those before
   * the failed one then commit, and its failure is its own.
   */
  async forward(run: RunState, first: StepOf<'tx'>, seq: number): Promise<StepEnd> {
    const restore = run.snapshot();
    const since = performance.now();
    const writes: TimedWrite[] = [];
    try {
      const remember = await this.transactions.run(async (op) => {
        let contended = false;
        for (let step: AnyStep | undefined = first; step?.kind === 'tx'; step = run.steps[seq + writes.length]) {
          writes.push(await this.effect(run, op, step, seq + writes.length));
          contended = step.spec.commitAtOnce === true;
          if (contended || run.singly || writes.length >= stepsPerCommit) break;
          if (performance.now() - since > longestCommitMs) break;
        }
        const now = performance.now();
        const aged = writes.map(({ write, started, ended }) => ({
          ...write,
          startedMsAgo: now - started,
          endedMsAgo: now - ended,
        }));
        const all = [...this.checkpoints.carried(run), ...aged];
        const intended = contended ? null : await this.intents.with(run, op, all);
        return intended ?? this.checkpoints.forward(run, op, all);
      });
      remember();
    } catch (error) {
      restore();
      if (writes.length === 0 || run.singly || error instanceof LeaseLost) throw error;
      run.assertHeld();
      run.singly = true;
      return 'next';
    }
    await this.checkpoints.carriedIsStored(run);
    for (const { write, started } of writes) {
      this.observer.took(run, write.name, 'run', started);
      await this.observer.at(run, write.name, 'run', 'after-checkpoint');
    }
    return 'next';
  }

  async undo(run: RunState, step: StepOf<'tx'>, seq: number): Promise<StepEnd> {
    const attempt = run.nextAttempt(seq, 'undo');
    await this.observer.at(run, step.name, 'undo', 'before-effect');
    const remember = await this.transactions.run(async (op) => {
      await step.spec.undo?.(run.txContext(op, attempt), run.outputs[step.name]);
      await this.observer.at(run, step.name, 'undo', 'after-effect');
      return this.checkpoints.backward(run, op, { seq, name: step.name, phase: 'undo', state: 'succeeded', attempt });
    });
    remember();
    return 'next';
  }

  /**
   * One step; its output is there for the steps after it, in this transaction and, once it has committed, for good.
   */
  private async effect(run: RunState, op: Op, step: StepOf<'tx'>, seq: number): Promise<TimedWrite> {
    const started = performance.now();
    const attempt = run.nextAttempt(seq, 'run');
    await this.observer.at(run, step.name, 'run', 'before-effect');
    const output = jsonOutput(await step.spec.run(run.txContext(op, attempt)));
    await this.observer.at(run, step.name, 'run', 'after-effect');
    const write: StepWrite = { seq, name: step.name, phase: 'run', state: 'succeeded', attempt, output };
    run.wrote(write);
    return { write, started, ended: performance.now() };
  }
}
