import { randomUUID } from 'node:crypto';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../../core/config/config';
import { Database } from '../../../../core/db/database';
import { HealthChecks } from '../../../../core/http/server/health-checks';
import { Logging } from '../../../../core/telemetry/logging';
import type { NetworkConfig } from '../../contract/network.config';
import { Service } from '../../../../core/lifecycle/service';
import type { PeriodicWork, PeriodicWorks } from '../../../../core/periodic/periodic-work';
import { digestOf } from './guest-egress';
import { GuestEgressSettingRepository } from './guest-egress-setting.repository';

const trouble =
  'management processes have different network.guestEgress settings, so hosts are given one and the other in turn: set it alike on all of them';

/**
 * Sees to it that management processes which are told different things of guests' way out are noticed: by the health
 * page and in the log.
 */
@injectable()
export class GuestEgressAgreement extends Service implements PeriodicWorks {
  private readonly log: Logger;
  private readonly process = randomUUID();
  private agreed = true;

  constructor(
    private readonly database: Database,
    private readonly settings: GuestEgressSettingRepository,
    private readonly config: Config,
    private readonly health: HealthChecks,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('network');
  }

  override async start(): Promise<void> {
    this.health.add('guest-egress', () =>
      Promise.resolve(this.agreed ? { status: 'healthy' } : { status: 'degraded', message: trouble }),
    );
    await Promise.resolve();
  }

  periodicWork(): PeriodicWork[] {
    const run = (): Promise<void> => this.look();
    return [{ name: 'network.agree-guest-egress', everyMs: 2_000, scope: 'process', deadlineMs: 60_000, run }];
  }

  /** Compares this process's setting with those of the others that are alive. */
  async look(): Promise<void> {
    const { allow, deny } = this.config.section<NetworkConfig>('network').guestEgress;
    const agreed =
      (await this.settings.show(this.database.op, this.process, digestOf({ allow, deny, hosts: [] }))) <= 1;
    if (this.agreed && !agreed) this.log.warn(trouble);
    this.agreed = agreed;
  }

  override async stop(): Promise<void> {
    await this.settings
      .leave(this.database.op, this.process)
      .catch((error: unknown) =>
        this.log.debug({ err: error }, 'this process counts among the others until it is forgotten'),
      );
  }
}
