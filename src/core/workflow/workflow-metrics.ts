import { injectable } from 'inversify';
import { Counter, Gauge, Histogram } from 'prom-client';
import { Metrics } from '../telemetry/metrics';
import { TaskRequestRepository } from './storage/task-request.repository';

/** The engine's figures on `/metrics`. */
@injectable()
export class WorkflowMetrics {
  readonly started: Counter<'type'>;
  readonly ended: Counter<'type' | 'state'>;
  readonly duration: Histogram<'type' | 'state'>;
  readonly stepSeconds: Histogram<'type' | 'step' | 'phase'>;
  readonly stepFailures: Counter<'type' | 'step' | 'phase' | 'kind'>;
  readonly leasesLost: Counter;
  readonly running: Gauge;

  constructor(metrics: Metrics, requests: TaskRequestRepository) {
    const registers = [metrics.registry];
    const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
    this.started = new Counter({
      name: 'vcstack_tasks_started_total',
      help: 'Tasks queued by this process',
      labelNames: ['type'],
      registers,
    });
    this.ended = new Counter({
      name: 'vcstack_tasks_ended_total',
      help: 'Tasks that this process brought to a final state, or that got stuck',
      labelNames: ['type', 'state'],
      registers,
    });
    this.duration = new Histogram({
      name: 'vcstack_task_duration_seconds',
      help: 'From the first claim to the end',
      labelNames: ['type', 'state'],
      buckets,
      registers,
    });
    this.stepSeconds = new Histogram({
      name: 'vcstack_task_step_seconds',
      help: 'One attempt of one step that succeeded',
      labelNames: ['type', 'step', 'phase'],
      buckets,
      registers,
    });
    this.stepFailures = new Counter({
      name: 'vcstack_task_step_failures_total',
      help: 'Failed attempts; kind is permanent or transient',
      labelNames: ['type', 'step', 'phase', 'kind'],
      registers,
    });
    this.leasesLost = new Counter({
      name: 'vcstack_task_leases_lost_total',
      help: "Runs stopped because the task was no longer this worker's",
      registers,
    });
    this.running = new Gauge({
      name: 'vcstack_tasks_running',
      help: 'Tasks that this process runs at the moment',
      registers,
    });
    new Gauge({
      name: 'vcstack_tasks_stuck',
      help: 'Tasks that could not be undone and wait for an operator',
      registers,
      async collect(): Promise<void> {
        this.set(await requests.stuckCount());
      },
    });
  }
}
