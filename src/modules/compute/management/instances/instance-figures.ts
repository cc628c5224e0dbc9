import { injectable } from 'inversify';
import { Database } from '../../../../core/db/database';
import { Service } from '../../../../core/lifecycle/service';
import type { PeriodicWork, PeriodicWorks } from '../../../../core/periodic/periodic-work';
import { DeclaredMetrics } from '../../../../core/telemetry/declared-metrics';
import { InstanceFigureRepository } from './instance-figure.repository';

/** From one count to the next. Milliseconds. */
const everyMs = 30_000;

/**
 * How many instances there are, for whoever reads the metrics. One process counts them now and then; each tells the
 * last count and its time, so that a look at the metrics costs the same however many instances there are.
 */
@injectable()
export class InstanceFigures extends Service implements PeriodicWorks {
  constructor(
    private readonly database: Database,
    private readonly figures: InstanceFigureRepository,
    private readonly metrics: DeclaredMetrics,
  ) {
    super();
  }

  override async start(): Promise<void> {
    this.metrics.collect('vcstack_instances', async () =>
      (await this.figures.all(this.database.op)).map(({ state, instances }) => ({
        labels: { state },
        value: instances,
      })),
    );
    this.metrics.collect('vcstack_instances_counted_timestamp_seconds', async () =>
      (await this.figures.all(this.database.op)).slice(0, 1).map(({ countedAt }) => ({ labels: {}, value: countedAt })),
    );
    await Promise.resolve();
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }

  periodicWork(): PeriodicWork[] {
    const run = (): Promise<void> => this.figures.count(this.database.op);
    return [{ name: 'compute.count-instances', everyMs, scope: 'cluster', deadlineMs: 60_000, run }];
  }
}
