import { mkdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { injectable } from 'inversify';
import { Agent, request } from 'undici';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { StatePaths } from '../../config/state-paths';
import { formatRecord, parseRecord, type RecordForm } from '../../host/records/record-form';
import { Logging } from '../../telemetry/logging';
import { createSigningRequest, dueForRenewal, fingerprint, isOfOlderForm } from '../ca/certificates';
import { decodeToken, type EnrolmentToken } from '../enrolment-token';
import type { NodeEndpoint } from '../management/node-registry';
import { ManagementAddresses } from './management-addresses';
import { fetchRoot, minVersion, mustBeManagement, RootMismatchError } from './secure-context';

const stored = z.object({
  hostId: z.string(),
  key: z.string(),
  certificate: z.string(),
  root: z.string(),
  management: z.object({ address: z.string(), port: z.number().int() }),
  /** This host's own address as management was reached from it. */
  localAddress: z.string(),
});
export type StoredIdentity = z.infer<typeof stored>;

const identityForm: RecordForm<StoredIdentity> = { name: 'identity', version: 1, schema: stored, upgrades: {} };

const enrolled = z.object({ hostId: z.string(), certificate: z.string(), root: z.string() });
const requestTimeoutMs = 10_000;
const attempts = 60;

/** The host has no certificate and cannot get one. `code` is management's, or `no_token`, `bad_token`, `wrong_root`. */
class EnrolmentError extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'EnrolmentError';
  }
}

/**
 * Who this host is: key, certificate, root and where management is, in one file `<state>/identity/identity.json`
 * (0600), written atomically. The private key is made here and never leaves.
 */
@injectable()
export class NodeIdentity {
  private identity: StoredIdentity | undefined;
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly paths: StatePaths,
    private readonly logging: Logging,
    private readonly addresses: ManagementAddresses,
  ) {}

  /** Throws before `ensure`. */
  current(): StoredIdentity {
    if (!this.identity) throw new Error('this host has no identity yet');
    return this.identity;
  }

  /** Called after each change of the certificate. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /**
   * Loads the identity; without one, enrols with the token. A host that has an identity ignores the token.
   * @param self name, address (empty: the one that routes to management) and bound port of this host's agent
   */
  async ensure(
    token: string,
    self: { name: string; address: string; port: number },
    signal?: AbortSignal,
  ): Promise<StoredIdentity> {
    const present = await this.load();
    const decoded = token === '' ? null : decodeToken(token);
    if (present) {
      if (decoded && decoded.rootFingerprint !== fingerprint(present.root)) {
        this.logging
          .for('identity')
          .warn(
            { file: this.file() },
            'the token is of another installation than this host belongs to and is ignored; remove the file to join the other one',
          );
      }
      this.identity = present;
      return present;
    }
    if (token === '')
      throw new EnrolmentError(
        'no_token',
        'This host is not enrolled and has no token: make one with "vcctl host token create" and start with it.',
      );
    if (!decoded)
      throw new EnrolmentError('bad_token', 'The enrolment token is damaged: copy it whole, it starts with "vcsj_".');
    return this.enrol(decoded, self, signal);
  }

  /**
   * Renews when a third of the certificate's life is left, at once when it is of the form from before roles, or with
   * `force`. True when it did.
   */
  async renewIfDue(post: (path: string, body: unknown) => Promise<unknown>, force = false): Promise<boolean> {
    const identity = this.current();
    if (!force && !dueForRenewal(identity.certificate) && !isOfOlderForm(identity.certificate)) return false;
    const { key, csr } = await createSigningRequest(identity.hostId);
    const answer = enrolled.parse(await post('/renew', { csr }));
    await this.store({ ...identity, key, certificate: answer.certificate });
    this.logging.for('identity').info({ hostId: identity.hostId }, 'certificate renewed');
    return true;
  }

  private async enrol(
    token: EnrolmentToken,
    self: { name: string; address: string; port: number },
    signal?: AbortSignal,
  ): Promise<StoredIdentity> {
    const log = this.logging.for('identity');
    // One key for all attempts: management answers a repeated request of the same key again, so a lost answer costs
    // nothing.
    const { key, csr } = await createSigningRequest(self.name);
    for (let attempt = 1; ; attempt += 1) {
      const management = this.addresses.all({ address: token.address, port: token.port })[0] ?? token;
      try {
        const { root, localAddress } = await fetchRoot(
          management.address,
          management.port,
          token.rootFingerprint,
          requestTimeoutMs,
        );
        const body = {
          ticket: token.ticket,
          csr,
          name: self.name,
          address: self.address || localAddress,
          port: self.port,
        };
        const answer = await this.askForCertificate(management, root, body, signal);
        const identity = {
          hostId: answer.hostId,
          key,
          certificate: answer.certificate,
          root,
          management: { address: management.address, port: management.port },
          localAddress,
        };
        await this.store(identity);
        log.info({ hostId: identity.hostId }, 'this host has joined');
        return identity;
      } catch (error) {
        if (error instanceof RootMismatchError) throw new EnrolmentError('wrong_root', error.message, { cause: error });
        if (error instanceof EnrolmentError || signal?.aborted || attempt >= attempts) throw error;
        this.addresses.failed(management);
        log.warn({ attempt, err: error }, 'management does not answer; trying again');
        await delay(
          Math.min(10_000, 250 * 2 ** Math.min(attempt, 6)) * (0.5 + Math.random() / 2),
          undefined,
          signal ? { signal } : {},
        );
      }
    }
  }

  private async askForCertificate(
    management: NodeEndpoint,
    root: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<z.infer<typeof enrolled>> {
    const dispatcher = new Agent({
      connect: { ca: root, minVersion, checkServerIdentity: mustBeManagement },
      headersTimeout: requestTimeoutMs,
      bodyTimeout: requestTimeoutMs,
    });
    try {
      const host = management.address.includes(':') ? `[${management.address}]` : management.address;
      const response = await request(`https://${host}:${management.port}/node/enroll`, {
        method: 'POST',
        dispatcher,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal ? { signal } : {}),
      });
      const text = await response.body.text();
      if (response.statusCode === 200) return enrolled.parse(JSON.parse(text));
      const problem = z.object({ code: z.string(), detail: z.string() }).safeParse(safeJson(text));
      if (response.statusCode < 500 && problem.success)
        throw new EnrolmentError(problem.data.code, problem.data.detail);
      throw new Error(`management answered ${response.statusCode}`);
    } finally {
      await dispatcher.close().catch(() => undefined);
    }
  }

  private async load(): Promise<StoredIdentity | undefined> {
    let text: string;
    try {
      text = await readFile(this.file(), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const reading = parseRecord(identityForm, text);
    // A newer build wrote it: what this one needs of it is there all the same.
    if (reading.kind === 'newer' && reading.value) return reading.value;
    if (reading.kind === 'newer')
      throw new EnrolmentError(
        'newer_identity',
        `${this.file()} cannot be used: ${reading.reason}. Install the newer release again, or remove the file and enrol this host anew with a token.`,
      );
    if (reading.kind === 'unreadable')
      throw new EnrolmentError(
        'bad_identity',
        `${this.file()} is damaged. Remove it and enrol this host anew with a token.`,
      );
    return reading.value;
  }

  private async store(identity: StoredIdentity): Promise<void> {
    await mkdir(this.paths.stateDir('identity'), { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.file(), formatRecord(identityForm, identity), { mode: 0o600 });
    this.identity = identity;
    for (const listener of this.listeners) listener();
  }

  private file(): string {
    return this.paths.stateDir('identity', 'identity.json');
  }
}

const safeJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
