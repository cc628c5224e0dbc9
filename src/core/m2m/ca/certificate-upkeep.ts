import { injectable } from 'inversify';
import { PeriodicWorks, type PeriodicWork } from '../../periodic/periodic-work';
import { CertificateAuthority } from './certificate-authority';
import { ServerIdentity } from './server-identity';

const hourMs = 3_600_000;
const deadlineMs = 60_000;

/** What certificates need again and again: the list of revoked ones in memory, the server's own renewed, old ones gone. */
@injectable()
export class CertificateUpkeep extends PeriodicWorks {
  constructor(
    private readonly authority: CertificateAuthority,
    private readonly identity: ServerIdentity,
  ) {
    super();
  }

  override periodicWork(): PeriodicWork[] {
    return [
      {
        name: 'm2m.refresh-revoked',
        everyMs: 2_000,
        scope: 'process',
        deadlineMs,
        run: () => this.authority.refreshRevoked(),
      },
      {
        name: 'm2m.renew-server-certificate',
        everyMs: hourMs,
        scope: 'process',
        deadlineMs,
        run: () => this.identity.start(),
      },
      {
        name: 'm2m.purge-certificates',
        everyMs: hourMs,
        scope: 'cluster',
        deadlineMs,
        run: () => this.authority.purgeExpired(),
      },
    ];
  }
}
