import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../../../telemetry/logging';
import type { LocalContext, ReportProgress } from '../../definition/definition';
import { StepProgress } from '../../request/step-progress';
import { EngineTransactions } from '../../storage/engine-transactions';
import { TaskRunRepository } from '../../storage/task-run.repository';
import type { StepWrite } from '../../storage/task-row';
import { Checkpoints } from '../checkpoints';
import { jsonOutput } from '../json-output';
import { LocalWork } from '../local-work';
import type { RunState, StepEnd } from '../run-state';
import { StepObserver } from '../step-observer';
import { TaskEvents } from '../task-events';
import { Workload } from '../workload';
import { type StepKind, type StepOf, stepTimedOut } from './step-kind';
import { CancelSeen } from '../../storage/interruptions';

type Context = LocalContext<unknown, Record<string, unknown>>;

/** Steps in this process, under the task's lease: at least once. */
@injectable()
export class LocalSteps implements StepKind<'local'> {
  private readonly log: Logger;

  constructor(
    private readonly transactions: EngineTransactions,
    private readonly store: TaskRunRepository,
    private readonly work: LocalWork,
    private readonly checkpoints: Checkpoints,
    private readonly progress: StepProgress,
    private readonly events: TaskEvents,
    private readonly observer: StepObserver,
    private readonly workload: Workload,
    logging: Logging,
  ) {
    this.log = logging.for('workflow');
  }

  async forward(run: RunState, step: StepOf<'local'>, seq: number): Promise<StepEnd> {
    const { name, spec } = step;
    const since = performance.now();
    const deadline = run.deadlineOf(seq, spec.timeout);
    if (run.now() >= deadline) throw stepTimedOut(spec.timeout);
    const attempt = run.nextAttempt(seq, 'run');
    await this.intend(run, { seq, name, phase: 'run', state: 'running', attempt });
    await this.observer.at(run, name, 'run', 'before-effect');
    run.assertHeld();
    const output = await this.attended(run, deadline - run.now(), stepTimedOut(spec.timeout), (signal) =>
      spec.run(this.context(run, attempt), signal, this.reporter(run, name)),
    );
    if (output === interrupted) return 'next';
    run.assertHeld();
    await this.observer.at(run, name, 'run', 'after-effect');
    const write: StepWrite = { seq, name, phase: 'run', state: 'succeeded', attempt, output: jsonOutput(output) };
    return this.checkpoints.passed(run, step, await this.checkpoints.alone(run, [write]), since);
  }

  async undo(run: RunState, step: StepOf<'local'>, seq: number): Promise<StepEnd> {
    const { name, spec } = step;
    if (!spec.undo) return 'next';
    const { undo } = spec;
    const attempt = run.nextAttempt(seq, 'undo');
    await this.observer.at(run, name, 'undo', 'before-effect');
    run.assertHeld();
    const late = stepTimedOut(undefined);
    const done = await this.attended(run, run.undoUntil - run.now(), late, (signal) =>
      undo(this.context(run, attempt), run.outputs[name], signal),
    );
    if (done === interrupted) return 'next';
    run.assertHeld();
    await this.observer.at(run, name, 'undo', 'after-effect');
    const remember = await this.transactions.alone((op) =>
      this.checkpoints.backward(run, op, { seq, name, phase: 'undo', state: 'succeeded', attempt }),
    );
    remember();
    return 'next';
  }

  /** Stores that the work is about to begin, with the checkpoint that is carried. */
  private async intend(run: RunState, write: StepWrite): Promise<void> {
    const carried = this.checkpoints.carried(run);
    const at =
      carried.length > 0
        ? { cursor: write.seq, progress: run.progressAt(write.seq) }
        : { cursor: run.cursor, progress: run.progress };
    const seen = await this.transactions.run(async (op) => {
      await this.events.step(run, op, write.name);
      return this.store.intent(op, run.hold, [...carried, write], { ...at, step: write.name }, run.cancellable);
    });
    run.saw(seen);
    run.wrote(write);
    Object.assign(run, at);
    if (carried.length > 0) await this.checkpoints.carriedIsStored(run);
  }

  /**
   * What the work gives; `interrupted` when the process stops, and the work is another's. Throws what the work threw,
   * `CancelSeen`, and `late` when it had no more than `ms` milliseconds.
   */
  private async attended<T>(
    run: RunState,
    ms: number,
    late: Error,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | typeof interrupted> {
    if (this.workload.stopping) return interrupted;
    const watched = this.work.watch(run);
    const timer = ms < longestTimerMs ? setTimeout(() => watched.abort(late), ms) : undefined;
    try {
      return await work(watched.signal);
    } catch (error) {
      if (!watched.signal.aborted) throw error;
      run.assertHeld();
      if (this.workload.stopping) return interrupted;
      const { reason } = watched.signal as { reason: unknown };
      throw reason instanceof CancelSeen || reason === late ? reason : error;
    } finally {
      clearTimeout(timer);
      this.work.release(run);
    }
  }

  private context(run: RunState, attempt: number): Context {
    return {
      ...run.stepContext(attempt),
      fence: run.task.fence,
      tx: (fn) =>
        this.transactions.run(async (op) => {
          await this.store.assertHeld(op, run.hold);
          return fn(op);
        }),
    };
  }

  private reporter(run: RunState, step: string): ReportProgress {
    return (percent, message = '') => {
      this.progress
        .local({ taskId: run.task.id, step, phase: 'run' }, percent, message)
        .catch((error: unknown) => this.log.debug({ taskId: run.task.id, err: error }, 'progress was not stored'));
    };
  }
}

const interrupted = Symbol('interrupted');
/** A timer cannot be longer. */
const longestTimerMs = 2 ** 31 - 1;
