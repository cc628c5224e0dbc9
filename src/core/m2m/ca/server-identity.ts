import { mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { injectable } from 'inversify';
import writeFileAtomic from 'write-file-atomic';
import { Config } from '../../config/config';
import { StatePaths } from '../../config/state-paths';
import { Logging } from '../../telemetry/logging';
import { CertificateAuthority } from './certificate-authority';
import { describe, dueForRenewal, fingerprint, type KeyedCertificate } from './certificates';
import { ownAddresses, reachableAddress } from './own-addresses';

/** PEM material for a TLS server or client. `chain` is the certificate followed by the root. */
export interface TlsMaterial extends KeyedCertificate {
  chain: string;
  root: string;
}

const checkEveryMs = 3_600_000;

/**
 * The certificate of this management process, for 8443, 8445 and its calls to nodes. Kept in `<state>/tls/server.json` (0600), so that a
 * browser that trusted it once goes on doing so; renewed by itself, and made anew when the machine's name or address changes.
 */
@injectable()
export class ServerIdentity {
  private material: TlsMaterial | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners: ((material: TlsMaterial) => void)[] = [];

  constructor(
    private readonly authority: CertificateAuthority,
    private readonly config: Config,
    private readonly paths: StatePaths,
    private readonly logging: Logging,
  ) {}

  /** Loads or makes the certificate. Must have resolved before `current`. May be called again. */
  async start(): Promise<TlsMaterial> {
    const material = await this.ensure();
    this.timer ??= setInterval(() => void this.ensure().catch((error: unknown) => this.logging.for('tls').error({ err: error }, 'renewing the server certificate failed')), checkEveryMs).unref();
    return material;
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
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
    this.material = { ...keyed, root, chain: `${keyed.certificate.trim()}\n${root}` };
    if (changed) for (const listener of this.listeners) listener(this.material);
    return this.material;
  }

  /** Names that must be in the certificate. Further addresses of the machine go in when it is made, but their coming and going is no reason for a new one. */
  private required(): string[] {
    return ['localhost', '127.0.0.1', hostname(), reachableAddress(this.config.core.management.address)].filter((name) => name.length > 0);
  }

  private fits(present: KeyedCertificate & { rootFingerprint?: string }, root: string): boolean {
    if (present.rootFingerprint !== undefined && present.rootFingerprint !== fingerprint(root)) return false;
    if (dueForRenewal(present.certificate)) return false;
    const names = describe(present.certificate).subjectAltName.toLowerCase();
    // Node prints IPv6 addresses in full, so those are not compared.
    return this.required().filter((h) => !h.includes(':')).every((h) => names.includes(`:${h.toLowerCase()}`));
  }

  private async read(): Promise<(KeyedCertificate & { rootFingerprint: string }) | undefined> {
    try {
      return JSON.parse(await readFile(this.file(), 'utf8')) as KeyedCertificate & { rootFingerprint: string };
    } catch {
      return undefined;
    }
  }

  private async make(root: string): Promise<KeyedCertificate> {
    const made = await this.authority.issueManagement([...new Set([...this.required(), '::1', ...ownAddresses()])]);
    await mkdir(this.paths.stateDir('tls'), { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.file(), JSON.stringify({ ...made, rootFingerprint: fingerprint(root) }), { mode: 0o600 });
    return made;
  }

  private file(): string {
    return this.paths.stateDir('tls', 'server.json');
  }
}
