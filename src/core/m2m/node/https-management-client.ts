import { injectable } from 'inversify';
import { Agent, type Dispatcher, request } from 'undici';
import { Config } from '../../config/config';
import { ManagementClient } from '../management/node-route';
import type { NodeEndpoint } from '../management/node-registry';
import { ManagementAddresses } from './management-addresses';
import { NodeIdentity } from './node-identity';
import { minVersion, mustBeManagement } from './secure-context';

const postTimeoutMs = 15_000;
/**
 * With another address to go to, one that takes but does not answer is left after a heartbeat's pause, though not
 * before this: a host is called silent after three.
 */
const shortestTimeoutMs = 1_000;

/** Management answered with something else than success. */
class ManagementRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'ManagementRefusal';
  }
}

/** Codes of a connection that did not come about: nothing of the request was sent, so it may go elsewhere. */
const notSent = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * The node's way to management: mutual TLS with this host's certificate, connections kept alive. With several addresses
 * it stays with one while that answers.
 */
@injectable()
export class HttpsManagementClient extends ManagementClient {
  private agent: Agent | undefined;

  constructor(
    private readonly identity: NodeIdentity,
    private readonly addresses: ManagementAddresses,
    private readonly config: Config,
  ) {
    super();
    identity.onChange(() => this.reset());
  }

  async download(path: string, signal?: AbortSignal): Promise<NodeJS.ReadableStream> {
    const response = await this.send('GET', path, undefined, signal);
    return response.body;
  }

  async post(path: string, body: unknown): Promise<unknown> {
    const response = await this.send('POST', path, JSON.stringify(body), AbortSignal.timeout(this.postTimeoutMs()));
    const text = await response.body.text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Opens new connections from here on, with the present certificate. */
  reset(): void {
    const old = this.agent;
    this.agent = undefined;
    if (old) void old.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    const old = this.agent;
    this.agent = undefined;
    await old?.destroy();
  }

  private postTimeoutMs(): number {
    const elsewhere = this.addresses.all(this.identity.current().management).length > 1;
    return elsewhere
      ? Math.min(postTimeoutMs, Math.max(shortestTimeoutMs, this.config.core.m2m.heartbeatMs))
      : postTimeoutMs;
  }

  /**
   * A request that may have been sent is not repeated at another address: the callers do, when their next attempt is
   * due.
   */
  private async send(
    method: 'GET' | 'POST',
    path: string,
    body: string | undefined,
    signal?: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const endpoints = this.addresses.all(this.identity.current().management);
    for (const [index, endpoint] of endpoints.entries()) {
      try {
        return await this.ask(endpoint, method, path, body, signal);
      } catch (error) {
        if (error instanceof ManagementRefusal) throw error;
        this.addresses.failed(endpoint);
        const sent = !notSent.has(String((error as NodeJS.ErrnoException).code));
        if (sent || signal?.aborted || index === endpoints.length - 1) throw error;
      }
    }
    throw new Error('there is no address of management');
  }

  private async ask(
    endpoint: NodeEndpoint,
    method: 'GET' | 'POST',
    path: string,
    body: string | undefined,
    signal?: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const host = endpoint.address.includes(':') ? `[${endpoint.address}]` : endpoint.address;
    const response = await request(`https://${host}:${endpoint.port}/node${path}`, {
      method,
      dispatcher: this.dispatcher(),
      headersTimeout: 60_000,
      bodyTimeout: 60_000,
      ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
      ...(signal ? { signal } : {}),
    });
    if (response.statusCode === 200) return response;
    const text = (await response.body.text()).slice(0, 4096);
    const problem = parseProblem(text);
    throw new ManagementRefusal(
      response.statusCode,
      problem.code,
      `management answered ${response.statusCode} to ${method} /node${path}: ${problem.detail}`,
    );
  }

  private dispatcher(): Agent {
    const { key, certificate, root } = this.identity.current();
    this.agent ??= new Agent({
      connections: 8,
      keepAliveTimeout: 30_000,
      connect: { key, cert: certificate, ca: root, minVersion, checkServerIdentity: mustBeManagement, timeout: 5_000 },
      // A resumed session would skip the check of the peer's identity.
      maxCachedSessions: 0,
    });
    return this.agent;
  }
}

const parseProblem = (text: string): { code: string; detail: string } => {
  try {
    const parsed = JSON.parse(text) as { code?: unknown; detail?: unknown };
    return { code: String(parsed.code ?? 'unknown'), detail: String(parsed.detail ?? text) };
  } catch {
    return { code: 'unknown', detail: text };
  }
};
