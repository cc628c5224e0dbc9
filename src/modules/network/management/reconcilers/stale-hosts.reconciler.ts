import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Service } from '../../../../core/lifecycle/service';
import { Database } from '../../../../core/db/database';
import { Logging } from '../../../../core/telemetry/logging';
import { Hosts } from '../../../host/contract/host.ports';
import { digestOf, GuestEgress } from '../hosts/guest-egress';
import { GuestEgressAgreement } from '../hosts/guest-egress-agreement';
import { HostGenerationRepository } from '../hosts/host-generation.repository';
import { HostSync } from '../hosts/host-sync.service';

const everyMs = 2_000;

/**
 * Sends the newest document to hosts that are heard and have an older one, or one from before a host came, went or
 * changed its address. What counts is what they last said they have, not that they say so: a host that was away without
 * noticing it reports nothing new. Not a job of the queue, whose schedule follows this machine's clock.
 */
@injectable()
export class StaleHostsReconciler extends Service {
  private readonly log: Logger;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly hosts: Hosts,
    private readonly egress: GuestEgress,
    private readonly agreement: GuestEgressAgreement,
    private readonly generations: HostGenerationRepository,
    private readonly sync: HostSync,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('network');
  }

  override async start(): Promise<void> {
    this.agreement.start();
    this.schedule();
    await Promise.resolve();
  }

  override async stop(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.running;
    await this.agreement.stop();
  }

  async round(): Promise<void> {
    await this.agreement.look();
    const hosts = await this.hosts.all(this.database.op);
    const egress = digestOf(this.egress.of(hosts));
    const heard = hosts.filter(({ state }) => state !== 'unknown').map(({ id }) => id);
    if (heard.length === 0) return;
    await this.database.tx(async (op) => {
      for (const hostId of await this.generations.takeStale(op, heard, egress))
        await this.sync.start(op, hostId, { principal: 'system' });
    });
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.running = this.round()
        .catch((error: unknown) =>
          this.log.warn(
            { err: error },
            'hosts with older networks could not be looked for; the next round tries again',
          ),
        )
        .finally(() => {
          if (this.timer !== undefined) this.schedule();
        });
    }, everyMs);
  }
}
