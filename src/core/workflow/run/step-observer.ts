import { performance } from 'node:perf_hooks';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Logging } from '../../telemetry/logging';
import { WorkflowMetrics } from '../workflow-metrics';
import type { RunState } from './run-state';
import type { StepFailure } from './step-failure';
import { WorkflowProbe, type ProbeBoundary } from './workflow-probe';

/** Metrics, log and probe of what the steps of tasks do. */
@injectable()
export class StepObserver {
  private readonly log: Logger;

  constructor(
    private readonly metrics: WorkflowMetrics,
    private readonly probe: WorkflowProbe,
    logging: Logging,
  ) {
    this.log = logging.for('workflow');
  }

  /** A boundary of a step: tests stop the process here. */
  at(run: RunState, step: string, phase: 'run' | 'undo', point: ProbeBoundary['point']): Promise<void> {
    return this.probe.at({ taskId: run.task.id, type: run.task.type, step, phase, point });
  }

  /** One attempt succeeded; `since` on the clock of `performance.now()`. */
  took(run: RunState, step: string, phase: 'run' | 'undo', since: number): void {
    this.metrics.stepSeconds.observe({ type: run.task.type, step, phase }, (performance.now() - since) / 1000);
  }

  /** One attempt failed. `step` is null for what runs after the last undo. */
  failed(run: RunState, step: string | null, phase: 'run' | 'undo', failure: StepFailure, permanent: boolean): void {
    const { task } = run;
    this.metrics.stepFailures.inc({
      type: task.type,
      step: step ?? 'end',
      phase,
      kind: permanent ? 'permanent' : 'transient',
    });
    const about = {
      taskId: task.id,
      requestId: task.requestId,
      type: task.type,
      step,
      code: failure.code,
      host: failure.host,
      cause: failure.cause,
      permanent,
    };
    this.log.warn(about, phase === 'undo' ? `undo failed: ${failure.message}` : failure.message);
  }
}
