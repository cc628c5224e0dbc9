import { injectable } from 'inversify';
import { Service } from '../../../../core/lifecycle/service';
import { Config } from '../../../../core/config/config';
import { Attention } from '../../../../core/db/notify/attention';
import { Database } from '../../../../core/db/database';
import { Logging } from '../../../../core/telemetry/logging';
import type { HostConfig } from '../../contract/host.config';
import { HostConditions } from '../conditions/host-conditions.service';
import { HostRepository } from '../hosts/host.repository';

/**
 * Finds hosts that went silent, on the database's clock. Silent is `unknown`, not down: their instances are not
 * touched. After management was away itself (a start, a freeze, a database that could not be reached) all hosts get the
 * full time anew, for nobody could hear them.
 */
@injectable()
export class SilentHostReconciler extends Service {
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  private stopped = false;
  private readonly attention: Attention;

  constructor(
    private readonly database: Database,
    private readonly hosts: HostRepository,
    private readonly conditions: HostConditions,
    private readonly config: Config,
    private readonly logging: Logging,
  ) {
    super();
    this.attention = new Attention(config.section<HostConfig>('host').sweepMs);
  }

  async start(): Promise<void> {
    this.stopped = false;
    this.schedule(0);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.working;
  }

  private schedule(ms: number): void {
    this.timer = setTimeout(() => {
      this.working = this.sweep()
        .catch((error: unknown) =>
          this.logging.for('host').warn({ err: error }, 'silent hosts could not be looked for'),
        )
        .finally(() => {
          if (!this.stopped) this.schedule(this.config.section<HostConfig>('host').sweepMs);
        });
    }, ms);
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
