import { injectable } from 'inversify';
import { Service } from '../../../core/app/module-manifest';
import { Database } from '../../../core/db/database';
import { Jobs } from '../../../core/jobs/jobs';
import { graceSeconds, HostGenerationRepository } from './host-generation.repository';
import { HostSync } from './host-sync.service';

const everyMs = 10_000;

/** Sends the newest document to hosts that came back with an older one while it was still on its way, and did not report again. */
@injectable()
export class BehindHostsReconciler extends Service {
  constructor(
    private readonly jobs: Jobs,
    private readonly database: Database,
    private readonly generations: HostGenerationRepository,
    private readonly sync: HostSync,
  ) {
    super();
  }

  override async start(): Promise<void> {
    await this.jobs.repeat('network.sync-behind-hosts', everyMs, () => this.round());
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }

  async round(): Promise<void> {
    await this.database.tx(async (op) => {
      for (const hostId of await this.generations.takeBehind(op, graceSeconds)) await this.sync.start(op, hostId, { principal: 'system' });
    });
  }
}
