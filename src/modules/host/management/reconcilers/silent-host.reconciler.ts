import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { Attention } from '../../../../core/db/notify/attention';
import { Database } from '../../../../core/db/database';
import { PeriodicWorks, type PeriodicWork } from '../../../../core/periodic/periodic-work';
import type { HostConfig } from '../../contract/host.config';
import { HostConditions } from '../conditions/host-conditions.service';
import { HostRepository } from '../hosts/host.repository';

/**
 * Finds hosts that went silent, on the database's clock. Silent is `unknown`, not down: their instances are not
 * touched. After management was away itself (a start, a freeze, a database that could not be reached) all hosts get the
 * full time anew, for nobody could hear them. Each process looks: what it concludes stands on its own attention.
 */
@injectable()
export class SilentHostReconciler extends PeriodicWorks {
  private readonly attention: Attention;

  constructor(
    private readonly database: Database,
    private readonly hosts: HostRepository,
    private readonly conditions: HostConditions,
    private readonly config: Config,
  ) {
    super();
    this.attention = new Attention(config.section<HostConfig>('host').sweepMs);
  }

  override periodicWork(): PeriodicWork[] {
    const everyMs = this.config.section<HostConfig>('host').sweepMs;
    const run = (): Promise<void> => this.sweep();
    return [{ name: 'host.find-silent', everyMs, scope: 'process', deadlineMs: 60_000, atStart: true, run }];
  }

  private async sweep(): Promise<void> {
    const { silentAfterMs } = this.config.section<HostConfig>('host');
    const { at, attentiveMs } = await this.attention.look(this.database.op);
    if (attentiveMs < silentAfterMs) return;
    await this.database.tx(async (op) => {
      for (const hostId of await this.hosts.markSilent(op, at, silentAfterMs)) {
        const message = `it was not heard of for ${Math.round(silentAfterMs / 1000)} s; what runs there goes on`;
        await this.conditions.apply(op, hostId, [{ type: 'Heartbeat', status: 'unknown', reason: 'Silent', message }]);
      }
    });
  }
}
