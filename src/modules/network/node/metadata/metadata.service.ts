import { inject, injectable, optional } from 'inversify';
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { lastAnswer, unparsedStatus } from '../../../../core/http/server/last-answer';
import { Logging } from '../../../../core/telemetry/logging';
import { MetadataProvider } from '../../contract/network.ports';
import { netnsInode } from '../drivers/linux/netns';
import { metadataAddress } from '../drivers/linux/nft-rules';
import type { ServedNetwork } from '../drivers/network-driver';
import { ec2 } from './ec2';
import { text, type Answer, type GuestView } from './guest-view';
import { GuestViews } from './guest-views';
import { listenInNamespace } from './namespace-socket';
import { nocloud } from './nocloud';
import { isPassword, openstack } from './openstack';
import { maxTokenSeconds, SessionTokens } from './session-tokens';

interface Listener {
  netns: string;
  inode: number | null;
  server: Server;
}

const maxConnections = 256;
const maxPath = 1024;
/** OpenStack's bound. */
const maxPasswordBytes = 1020;
const retryMs = 1000;

const refuseUnparsed = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = unparsedStatus(error.code);
  lastAnswer(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
  );
};

/**
 * 169.254.169.254 for guests: one listening socket per network namespace, all served by this process. A caller is known
 * by its source address, which its port's packet filter holds it to. No metadata while the agent is down; the sockets
 * are opened again at its start.
 */
@injectable()
export class MetadataService {
  private readonly log: Logger;
  private readonly tokens = new SessionTokens();
  private readonly open = new Map<string, Listener>();
  private wanted: ServedNetwork[] = [];
  private syncing: Promise<void> | undefined;
  private again = false;
  private stopped = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly views: GuestViews,
    logging: Logging,
    @inject(MetadataProvider) @optional() private readonly provider?: MetadataProvider,
  ) {
    this.log = logging.for('network.metadata');
  }

  /** Serves these networks from now on, and no others. Sockets open in the background; failures are tried again. */
  follow(served: ServedNetwork[]): void {
    this.wanted = served;
    this.kick();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.retry);
    await this.syncing;
    for (const id of [...this.open.keys()]) this.close(id);
  }

  private kick(): void {
    if (this.stopped) return;
    this.again = true;
    this.syncing ??= this.sync().finally(() => {
      this.syncing = undefined;
    });
  }

  private async sync(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      clearTimeout(this.retry);
      const wanted = new Map(this.wanted.map((n) => [n.networkId, n]));
      for (const id of this.open.keys()) if (!wanted.has(id)) this.close(id);
      for (const network of wanted.values()) {
        const inode = await netnsInode(network.netns);
        const listener = this.open.get(network.networkId);
        // A namespace made anew keeps its name, but the old socket is in the old one.
        if (listener?.netns === network.netns && listener.inode === inode) continue;
        this.close(network.networkId);
        if (inode === null) continue;
        try {
          this.open.set(network.networkId, { netns: network.netns, inode, server: await this.listen(network) });
        } catch (error) {
          this.log.warn({ err: error, netns: network.netns }, 'no metadata service in this network; trying again');
          this.retry = setTimeout(() => this.kick(), retryMs).unref();
        }
      }
    }
  }

  private async listen(network: ServedNetwork): Promise<Server> {
    const socket = await listenInNamespace(network.netns, metadataAddress, 80);
    const server = createServer(
      { maxHeaderSize: 8192, headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 5000 },
      (req, res) => {
        this.answer(network.networkId, req, res).catch((error: unknown) => {
          this.log.error({ err: error, networkId: network.networkId }, 'a metadata request failed');
          if (!res.headersSent) send(res, 500, text('internal error\n'));
          else res.destroy();
        });
      },
    );
    server.on('clientError', refuseUnparsed);
    server.maxConnections = maxConnections;
    server.maxRequestsPerSocket = 1000;
    server.on('error', (error) => this.log.warn({ err: error, networkId: network.networkId }, 'metadata listener'));
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, () => resolve()));
    return server;
  }

  private close(networkId: string): void {
    const listener = this.open.get(networkId);
    this.open.delete(networkId);
    listener?.server.close();
    listener?.server.closeAllConnections();
  }

  private async answer(networkId: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    // Nothing is read of a body; the connection ends so that the rest of it is no next request.
    if (req.headers['content-length'] !== undefined && req.headers['content-length'] !== '0')
      res.setHeader('connection', 'close');
    // A proxy in the guest must not lend its credentials to others.
    if (req.headers['x-forwarded-for'] !== undefined) return send(res, 403, text('forwarded requests are refused\n'));
    const port = this.views.port(networkId, req.socket.remoteAddress);
    const path = (req.url ?? '/').split('?')[0] ?? '/';
    if (!port || path.length > maxPath) return send(res, 404, null);
    if (req.method === 'PUT' && path === '/latest/api/token') return this.token(port.id, req, res);
    const parts = path.split('/').filter((part) => part !== '');
    const forPassword = parts[0] === 'openstack' && isPassword(parts.slice(1));
    if (req.method === 'POST' && forPassword) return this.keepPassword(port.instanceId, req, res);
    if (req.method !== 'GET' && req.method !== 'HEAD') return send(res, 405, text('method not allowed\n'));
    const token = req.headers['x-aws-ec2-metadata-token'];
    if (token !== undefined && !this.tokens.valid(port.id, String(token)))
      return send(res, 401, text('invalid token\n'));
    const instance = await this.provider?.of(port.instanceId);
    if (!instance || !this.provider) return send(res, 404, null);
    const answer = forPassword
      ? text(await this.provider.password(port.instanceId))
      : this.route({ port, nics: this.views.cards(port.instanceId), instance }, parts);
    send(res, answer ? 200 : 404, answer, req.method === 'HEAD');
  }

  /** Once per instance, as OpenStack has it. */
  private async keepPassword(instanceId: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const password = await smallText(req, maxPasswordBytes);
    if (password === null)
      return send(res, 400, text(`a password has 1 to ${maxPasswordBytes} printable characters\n`));
    if (!this.provider || !(await this.provider.of(instanceId))) return send(res, 404, null);
    if (!(await this.provider.keepPassword(instanceId, password)))
      return send(res, 409, text('there is a password already\n'));
    send(res, 200, text(''));
  }

  private route(view: GuestView, path: string[]): Answer {
    if (path[0] === 'openstack') return openstack(view, path.slice(1));
    if (path[0] === 'nocloud') return nocloud(view, path.slice(1));
    return ec2(view, path);
  }

  private token(portId: string, req: IncomingMessage, res: ServerResponse): void {
    const seconds = Number(req.headers['x-aws-ec2-metadata-token-ttl-seconds']);
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxTokenSeconds)
      return send(res, 400, text('the header X-aws-ec2-metadata-token-ttl-seconds must be 1 to 21600\n'));
    res.setHeader('x-aws-ec2-metadata-token-ttl-seconds', String(seconds));
    send(res, 200, text(this.tokens.issue(portId, seconds)));
  }
}

/**
 * The body as printable ASCII; null when it is empty, longer, or anything else, or does not say how long it is. The
 * server's request timeout bounds the wait.
 */
const smallText = async (req: IncomingMessage, maxBytes: number): Promise<string | null> => {
  const length = Number(req.headers['content-length']);
  if (!Number.isInteger(length) || length > maxBytes) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  const found = Buffer.concat(chunks).toString('latin1').trim();
  return /^[\x21-\x7e]+$/.test(found) ? found : null;
};

const send = (res: ServerResponse, status: number, answer: Answer, headersOnly = false): void => {
  const { body, type } = answer ?? { body: 'not found\n', type: 'text/plain; charset=utf-8' };
  res.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  res.end(headersOnly ? undefined : body);
};
