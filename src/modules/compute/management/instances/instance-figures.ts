import { injectable } from 'inversify';
import { Database } from '../../../../core/db/database';
import { Service } from '../../../../core/lifecycle/service';
import { DeclaredMetrics } from '../../../../core/telemetry/declared-metrics';
import { InstanceRepository } from './instance.repository';

/** How many instances there are, for whoever reads the metrics. */
@injectable()
export class InstanceFigures extends Service {
  constructor(
    private readonly database: Database,
    private readonly instances: InstanceRepository,
    private readonly metrics: DeclaredMetrics,
  ) {
    super();
  }

  override async start(): Promise<void> {
    this.metrics.collect('vcstack_instances', async () =>
      (await this.instances.countByState(this.database.op)).map(({ state, count }) => ({
        labels: { state },
        value: count,
      })),
    );
    await Promise.resolve();
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }
}
