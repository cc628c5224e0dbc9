import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../../telemetry/logging';
import { EngineTransactions } from '../storage/engine-transactions';
import { TaskRunRepository } from '../storage/task-run.repository';
import type { RunState } from './run-state';
import { CancelSeen } from '../storage/interruptions';

/** How often those at work are asked after: whether somebody cancelled them. Milliseconds. */
const lookMs = 1_000;

export interface WatchedWork {
  /** Fires when the work has to stop, for whatever reason. */
  readonly signal: AbortSignal;
  abort(reason: Error): void;
}

/** The local steps at work in this process: they stop when their task is cancelled, or the process stops. */
@injectable()
export class LocalWork {
  private readonly log: Logger;
  private readonly atWork = new Map<string, { run: RunState; controller: AbortController }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: TaskRunRepository,
    private readonly transactions: EngineTransactions,
    logging: Logging,
  ) {
    this.log = logging.for('workflow');
  }

  watch(run: RunState): WatchedWork {
    const controller = new AbortController();
    this.atWork.set(run.task.id, { run, controller });
    this.lookLater();
    return {
      signal: AbortSignal.any([controller.signal, run.abort.signal]),
      abort: (reason) => controller.abort(reason),
    };
  }

  release(run: RunState): void {
    if (this.atWork.get(run.task.id)?.run === run) this.atWork.delete(run.task.id);
    if (this.atWork.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** The process stops: what is at work is begun anew by another. */
  interrupt(): void {
    for (const { controller } of this.atWork.values()) controller.abort(new Error('the process stops'));
  }

  private lookLater(): void {
    this.timer ??= setTimeout(() => void this.look(), lookMs).unref();
  }

  private async look(): Promise<void> {
    try {
      const ids = [...this.atWork]
        .filter(([, { run }]) => run.cancellable && run.state === 'running')
        .map(([id]) => id);
      const cancelled = ids.length === 0 ? [] : await this.transactions.alone(() => this.store.cancelled(ids));
      for (const { id, reason } of cancelled) this.atWork.get(id)?.controller.abort(new CancelSeen(reason));
    } catch (error) {
      this.log.debug({ err: error }, 'could not look whether local steps were cancelled; the next look tells');
    }
    this.timer = undefined;
    if (this.atWork.size > 0) this.lookLater();
  }
}
