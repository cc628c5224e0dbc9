import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import { parseDuration } from '../../definition/duration';
import { EngineTransactions } from '../../storage/engine-transactions';
import { Checkpoints } from '../checkpoints';
import { jsonOutput } from '../json-output';
import type { RunState, StepEnd } from '../run-state';
import { StepObserver } from '../step-observer';
import { TaskEvents } from '../task-events';
import { TaskSleep } from '../task-sleep';
import { type StepKind, type StepOf, stepTimedOut } from './step-kind';

/** Steps that wait for stored data. They have no effect. */
@injectable()
export class WaitSteps implements StepKind<'wait'> {
  constructor(
    private readonly transactions: EngineTransactions,
    private readonly checkpoints: Checkpoints,
    private readonly sleep: TaskSleep,
    private readonly events: TaskEvents,
    private readonly observer: StepObserver,
  ) {}

  async forward(run: RunState, step: StepOf<'wait'>, seq: number): Promise<StepEnd> {
    const { name, spec } = step;
    const since = performance.now();
    const before = run.row(seq, 'run');
    const attempt = before?.attempt ?? 1;
    const deadline = run.deadlineOf(seq, spec.timeout);
    await this.observer.at(run, name, 'run', 'before-effect');
    const done = await this.transactions.run(async (op) => {
      const output = jsonOutput(await spec.until(run.txContext(op, attempt)));
      await this.observer.at(run, name, 'run', 'after-effect');
      if (output !== undefined)
        return this.checkpoints.forward(run, op, [{ seq, name, phase: 'run', state: 'succeeded', attempt, output }]);
      const left = deadline - run.now();
      if (left <= 0) throw stepTimedOut(spec.timeout);
      if (!before) await this.events.step(run, op, name);
      const pause = Math.min(left, parseDuration(spec.every));
      await this.sleep.nap(run, op, { seq, name, phase: 'run', state: 'running', attempt }, pause);
      return undefined;
    });
    return done ? this.checkpoints.passed(run, step, done, since) : 'asleep';
  }

  undo(): Promise<StepEnd> {
    return Promise.resolve('next');
  }
}
