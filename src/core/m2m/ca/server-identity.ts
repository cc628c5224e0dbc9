import { mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { injectable } from 'inversify';
import writeFileAtomic from 'write-file-atomic';
import { Config } from '../../config/config';
import { StatePaths } from '../../config/state-paths';
import { CertificateAuthority } from './certificate-authority';
import { describe, dueForRenewal, fingerprint, isOfOlderForm, type KeyedCertificate } from './certificates';
import { ownAddresses, reachableAddress } from './own-addresses';

/** PEM material of a management process. `chain` is the certificate followed by the root. */
export interface TlsMaterial extends KeyedCertificate {
  chain: string;
  root: string;
  /** For its calls to nodes. */
  client: KeyedCertificate;
}

interface StoredIdentity extends KeyedCertificate {
  client: KeyedCertificate;
}

/**
 * The certificates of this management process: one with its names for 8443 and 8445, one without for its calls to
 * nodes. Kept in `<state>/tls/server.json` (0600), so that a browser that trusted it once goes on doing so; renewed by
 * themselves, and made anew when the machine's name or address changes, or when they are of the form that had one
 * certificate for everything.
 */
@injectable()
export class ServerIdentity {
  private material: TlsMaterial | undefined;
  private readonly listeners: ((material: TlsMaterial) => void)[] = [];

  constructor(
    private readonly authority: CertificateAuthority,
    private readonly config: Config,
    private readonly paths: StatePaths,
  ) {}

  /** Loads or makes the certificate. Must have resolved before `current`. Called again, it renews what is due. */
  start(): Promise<TlsMaterial> {
    return this.ensure();
  }

  /** Throws before `start`. */
  current(): TlsMaterial {
    if (!this.material) throw new Error('the server certificate is not loaded yet');
    return this.material;
  }

  /** Called after each renewal: servers set their secure context anew. */
  onChange(listener: (material: TlsMaterial) => void): void {
    this.listeners.push(listener);
  }

  private async ensure(): Promise<TlsMaterial> {
    const root = await this.authority.rootPem();
    const present = this.material ?? (await this.read());
    const keep = present && this.fits(present, root);
    const keyed = keep ? present : await this.make(root);
    const changed = keyed.certificate !== this.material?.certificate;
    this.material = {
      certificate: keyed.certificate,
      key: keyed.key,
      client: keyed.client,
      root,
      chain: `${keyed.certificate.trim()}\n${root}`,
    };
    if (changed) for (const listener of this.listeners) listener(this.material);
    return this.material;
  }

  /**
   * Names that must be in the certificate. Further addresses of the machine go in when it is made, but their coming and
   * going is no reason for a new one.
   */
  private required(): string[] {
    return ['localhost', '127.0.0.1', hostname(), reachableAddress(this.config.core.management.address)].filter(
      (name) => name.length > 0,
    );
  }

  private fits(present: StoredIdentity & { rootFingerprint?: string }, root: string): boolean {
    if (present.rootFingerprint !== undefined && present.rootFingerprint !== fingerprint(root)) return false;
    if (
      isOfOlderForm(present.certificate) ||
      dueForRenewal(present.certificate) ||
      dueForRenewal(present.client.certificate)
    )
      return false;
    const names = describe(present.certificate).subjectAltName.toLowerCase();
    // Node prints IPv6 addresses in full, so those are not compared.
    return this.required()
      .filter((h) => !h.includes(':'))
      .every((h) => names.includes(`:${h.toLowerCase()}`));
  }

  private async read(): Promise<(StoredIdentity & { rootFingerprint: string }) | undefined> {
    try {
      const stored = JSON.parse(await readFile(this.file(), 'utf8')) as StoredIdentity & { rootFingerprint: string };
      return (stored as Partial<StoredIdentity>).client === undefined ? undefined : stored;
    } catch {
      return undefined;
    }
  }

  private async make(root: string): Promise<StoredIdentity> {
    const server = await this.authority.issueServer([...new Set([...this.required(), '::1', ...ownAddresses()])]);
    const made = { ...server, client: await this.authority.issueClient() };
    await mkdir(this.paths.stateDir('tls'), { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.file(), JSON.stringify({ ...made, rootFingerprint: fingerprint(root) }), {
      mode: 0o600,
    });
    return made;
  }

  private file(): string {
    return this.paths.stateDir('tls', 'server.json');
  }
}
