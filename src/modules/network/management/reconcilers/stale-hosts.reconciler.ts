import { injectable } from 'inversify';
import { Database } from '../../../../core/db/database';
import { Hosts } from '../../../host/contract/host.ports';
import { digestOf, GuestEgress } from '../hosts/guest-egress';
import { HostGenerationRepository } from '../hosts/host-generation.repository';
import { HostSync } from '../hosts/host-sync.service';
import { PeriodicWorks, type PeriodicWork } from '../../../../core/periodic/periodic-work';

/**
 * Sends the newest document to hosts that are heard and have an older one, or one from before a host came, went or
 * changed its address. What counts is what they last said they have, not that they say so: a host that was away without
 * noticing it reports nothing new.
 */
@injectable()
export class StaleHostsReconciler extends PeriodicWorks {
  constructor(
    private readonly database: Database,
    private readonly hosts: Hosts,
    private readonly egress: GuestEgress,
    private readonly generations: HostGenerationRepository,
    private readonly sync: HostSync,
  ) {
    super();
  }

  override periodicWork(): PeriodicWork[] {
    const run = (): Promise<void> => this.round();
    return [{ name: 'network.sync-stale-hosts', everyMs: 2_000, scope: 'cluster', deadlineMs: 60_000, run }];
  }

  async round(): Promise<void> {
    const hosts = await this.hosts.all(this.database.op);
    const egress = digestOf(this.egress.of(hosts));
    const heard = hosts.filter(({ state }) => state !== 'unknown').map(({ id }) => id);
    if (heard.length === 0) return;
    await this.database.tx(async (op) => {
      for (const hostId of await this.generations.takeStale(op, heard, egress))
        await this.sync.start(op, hostId, { principal: 'system' });
    });
  }
}
