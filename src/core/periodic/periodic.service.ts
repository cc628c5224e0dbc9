import { inject, injectable, optional } from 'inversify';
import type { Logger } from 'pino';
import { Service } from '../lifecycle/service';
import { Logging } from '../telemetry/logging';
import { ClusterTurns } from './cluster-turns';
import { PeriodicLoop } from './periodic-loop';
import { PeriodicMetrics } from './periodic-metrics';
import type { PeriodicWork, PeriodicWorks } from './periodic-work';

/** Another process takes over what one had that is silent for so long, milliseconds. */
const usualLeaseMs = 10_000;
/** A process that stops does not wait longer than so for what runs. */
const stopMs = 5_000;

/**
 * All periodic work of this process. What must happen, or must happen by itself alone, is a workflow: periodic work may
 * be lost and comes again.
 */
@injectable()
export class Periodic extends Service {
  private readonly log: Logger;
  private readonly works = new Map<string, PeriodicWork>();
  private loops: PeriodicLoop[] = [];
  /** For tests: milliseconds. */
  leaseMs = usualLeaseMs;

  constructor(
    private readonly metrics: PeriodicMetrics,
    logging: Logging,
    @inject(ClusterTurns) @optional() private readonly turns?: ClusterTurns,
  ) {
    super();
    this.log = logging.for('periodic');
  }

  /** Before `start`. Throws when a name is there twice, and for a cluster's work where there is no cluster. */
  register(parts: readonly PeriodicWorks[]): void {
    for (const work of parts.flatMap((part) => part.periodicWork())) {
      if (this.works.has(work.name)) throw new Error(`the periodic work "${work.name}" is there twice`);
      if (work.scope === 'cluster' && !this.turns)
        throw new Error(`the periodic work "${work.name}" is a cluster's, and an agent stands alone`);
      this.works.set(work.name, work);
    }
  }

  override async start(): Promise<void> {
    this.loops = [...this.works.values()].map(
      (work) =>
        new PeriodicLoop(work, work.scope === 'cluster' ? this.turns : undefined, this.leaseMs, this.metrics, this.log),
    );
    for (const loop of this.loops) loop.start();
    await Promise.resolve();
  }

  /** Tells what runs to end and waits for it, at most 5 s. */
  override async stop(): Promise<void> {
    const ended = Promise.all(this.loops.splice(0).map((loop) => loop.stop())).then(() => true);
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), stopMs)));
    if (!(await Promise.race([ended, tooLong]))) this.log.warn('periodic work did not end in time');
    clearTimeout(timer);
  }
}
