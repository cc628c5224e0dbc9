import { injectable } from 'inversify';
import { MasterKey } from '../../crypto/master-key';
import { Database } from '../../db/database';
import type { Op } from '../../db/rows/op';
import { CaRepository } from './ca.repository';
import {
  createRoot,
  describe,
  fingerprint,
  issue,
  issueWithKey,
  type KeyedCertificate,
  type SigningRequest,
} from './certificates';
import { hostUri, managementUri } from './identity-uri';

const purpose = 'ca-key';
/** Life of a node's certificate; the node renews it when a third is left. */
const nodeDays = 30;
const managementDays = 90;

/**
 * The installation's certificate authority (management half): one root in the database, its key sealed with the master
 * key. Everything that it signs is recorded, so a certificate that it has no record of, or a revoked one, is refused.
 */
@injectable()
export class CertificateAuthority {
  private root: Promise<KeyedCertificate> | undefined;
  private revoked: ReadonlySet<string> = new Set();
  private readonly listeners: ((removed: ReadonlySet<string>) => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly masterKey: MasterKey,
    private readonly repository: CaRepository,
  ) {}

  /** The root in PEM; made on first use. */
  async rootPem(): Promise<string> {
    return (await this.load()).certificate;
  }

  /** SHA-256 of the root, hex. */
  async fingerprint(): Promise<string> {
    return fingerprint(await this.rootPem());
  }

  /**
   * A fresh key and certificate with which a management process serves 8443 and 8445. `hosts`: DNS names and addresses.
   */
  issueServer(hosts: string[]): Promise<KeyedCertificate> {
    return this.issueManagement('server', hosts);
  }

  /** A fresh key and certificate with which a management process calls nodes. */
  issueClient(): Promise<KeyedCertificate> {
    return this.issueManagement('management', []);
  }

  /** Signs a node's request. The identity is `hostId`, whatever the request says, and there is no name beside it. */
  async issueNode(op: Op, request: SigningRequest, hostId: string): Promise<string> {
    const certificate = await issue(await this.load(), request.publicKey, {
      role: 'host',
      uri: hostUri(hostId),
      hosts: [],
      validDays: nodeDays,
    });
    const facts = describe(certificate);
    await this.repository.record(op, facts.serial, hostId, facts.notAfter);
    return certificate;
  }

  /**
   * From the commit on no new connection, and within two seconds no open one, gets through with a certificate of this
   * host.
   */
  async revokeHost(op: Op, hostId: string, reason: string): Promise<void> {
    await this.repository.revokeHost(op, hostId, reason);
    op.afterCommit(() => void this.refreshRevoked().catch(() => undefined));
  }

  /**
   * Asks the database: for new connections. False for certificates that are revoked or have no record. Whoever comes
   * with a renewed one has it safely: the ones before it are revoked.
   */
  async admits(serial: string): Promise<boolean> {
    const { valid, older } = await this.repository.status(this.database.op, serial);
    if (valid && older) {
      await this.repository.revokeOlder(this.database.op, serial);
      await this.refreshRevoked();
    }
    return valid;
  }

  /** Called with the serials of removed hosts after each look at the list: their open connections are to be cut. */
  onRevoked(listener: (removed: ReadonlySet<string>) => void): void {
    this.listeners.push(listener);
  }

  /**
   * From the list in memory, at most as old as the last `refreshRevoked`: for further requests of a checked connection.
   */
  isListedRevoked(serial: string): boolean {
    return this.revoked.has(serial);
  }

  /** Called regularly. */
  async refreshRevoked(): Promise<void> {
    const rows = await this.repository.revoked(this.database.op);
    this.revoked = new Set(rows.map(({ serial }) => serial));
    // What runs on the connection of a certificate that was merely renewed may end.
    const removed = new Set(rows.filter((row) => !row.renewed).map(({ serial }) => serial));
    for (const listener of this.listeners) listener(removed);
  }

  async purgeExpired(): Promise<void> {
    await this.repository.purgeExpired(this.database.op);
  }

  private async issueManagement(role: 'server' | 'management', hosts: string[]): Promise<KeyedCertificate> {
    const issued = await issueWithKey(await this.load(), {
      role,
      uri: managementUri,
      hosts,
      validDays: managementDays,
    });
    const facts = describe(issued.certificate);
    await this.repository.record(this.database.op, facts.serial, null, facts.notAfter);
    return issued;
  }

  private load(): Promise<KeyedCertificate> {
    this.root ??= this.loadOrCreate().catch((error: unknown) => {
      this.root = undefined;
      throw error;
    });
    return this.root;
  }

  private async loadOrCreate(): Promise<KeyedCertificate> {
    const op = this.database.op;
    if (!(await this.repository.find(op))) {
      const made = await createRoot('VC Stack root');
      await this.repository.insertUnlessThere(op, {
        certificate: made.certificate,
        sealedKey: this.masterKey.seal(made.key, purpose),
      });
    }
    const row = await this.repository.find(op);
    if (!row) throw new Error('the certificate authority vanished while it was read');
    return { certificate: row.certificate, key: this.masterKey.open(row.sealedKey, purpose).toString('utf8') };
  }
}
