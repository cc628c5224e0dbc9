import { injectable } from 'inversify';
import { Agent, type Dispatcher, request } from 'undici';
import { ManagementClient } from '../node-route';
import { NodeIdentity } from './node-identity';
import { minVersion, mustBeManagement } from './secure-context';

const postTimeoutMs = 15_000;

/** Management answered with something else than success. */
export class ManagementRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'ManagementRefusal';
  }
}

/** The node's way to management: mutual TLS with this host's certificate, connections kept alive. */
@injectable()
export class HttpsManagementClient extends ManagementClient {
  private agent: Agent | undefined;

  constructor(private readonly identity: NodeIdentity) {
    super();
    identity.onChange(() => this.reset());
  }

  async download(path: string, signal?: AbortSignal): Promise<NodeJS.ReadableStream> {
    const response = await this.send('GET', path, undefined, signal);
    return response.body;
  }

  async post(path: string, body: unknown): Promise<unknown> {
    const response = await this.send('POST', path, JSON.stringify(body), AbortSignal.timeout(postTimeoutMs));
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

  private async send(method: 'GET' | 'POST', path: string, body: string | undefined, signal?: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { management } = this.identity.current();
    const host = management.address.includes(':') ? `[${management.address}]` : management.address;
    const response = await request(`https://${host}:${management.port}/node${path}`, {
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
    throw new ManagementRefusal(response.statusCode, problem.code, `management answered ${response.statusCode} to ${method} /node${path}: ${problem.detail}`);
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
