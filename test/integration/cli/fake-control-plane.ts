import { webcrypto } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as x509 from '@peculiar/x509';
import { WebSocketServer, type WebSocket } from 'ws';

type KeyPair = { publicKey: webcrypto.CryptoKey; privateKey: webcrypto.CryptoKey };

x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface Pki {
  ca: string;
  /** Own certificate, then the authority's. */
  chain: string;
  leaf: string;
  key: string;
}

const pemOf = async (key: webcrypto.CryptoKey): Promise<string> => {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der.replace(/(.{64})/g, '$1\n').trimEnd()}\n-----END PRIVATE KEY-----\n`;
};

/** An authority and a certificate for 127.0.0.1. */
export const makePki = async (): Promise<Pki> => {
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const caKeys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as KeyPair;
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: '01',
    name: 'CN=test authority',
    keys: caKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as KeyPair;
  const leaf = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: '02',
    subject: 'CN=127.0.0.1',
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
      new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']),
    ],
  });
  return {
    ca: `${ca.toString('pem')}\n`,
    leaf: `${leaf.toString('pem')}\n`,
    chain: `${leaf.toString('pem')}\n${ca.toString('pem')}\n`,
    key: await pemOf(keys.privateKey),
  };
};

export interface SeenRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  bearer: string | undefined;
  body: string;
}

export interface Answer {
  status?: number;
  body?: unknown;
}

/** A small HTTPS server that speaks as the control plane does, for what the client must handle. */
export class FakeControlPlane {
  readonly requests: SeenRequest[] = [];
  /** Answers by `METHOD /path`; called with the request. */
  readonly routes = new Map<string, (request: SeenRequest) => Answer>();
  /** Answers what no route does. */
  fallback: (request: SeenRequest) => Answer = (request) => ({
    status: 404,
    body: { code: 'not_found', detail: `There is no ${request.path}.` },
  });
  /** What a console does with its viewer. */
  onConsole: (socket: WebSocket) => void = (socket) => socket.close();
  accessToken = 'access-0';
  refreshToken = 'refresh-0';
  refreshes = 0;
  url = '';
  private constructor(
    readonly pki: Pki,
    private readonly server: Server,
  ) {}

  static async start(pki?: Pki, withAuthority = true): Promise<FakeControlPlane> {
    const made = pki ?? (await makePki());
    const server = createServer({ cert: withAuthority ? made.chain : made.leaf, key: made.key });
    const plane = new FakeControlPlane(made, server);
    server.on('request', (req, res) => void plane.handle(req, res));
    const sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', (req, socket, head) => {
      plane.note(req, '');
      if (!req.url?.startsWith('/api/v1/console?ticket=good')) {
        socket.end(
          'HTTP/1.1 401 Unauthorized\r\ncontent-type: application/problem+json\r\nconnection: close\r\n\r\n{"code":"invalid_ticket","detail":"The ticket is not valid.","requestId":"r-ws"}',
        );
        return;
      }
      sockets.handleUpgrade(req, socket, head, (ws) => plane.onConsole(ws));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    plane.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return plane;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private note(req: IncomingMessage, body: string): SeenRequest {
    const url = new URL(req.url ?? '/', this.url);
    const request = {
      method: req.method ?? '',
      path: url.pathname.replace(/^\/api\/v1/, ''),
      query: Object.fromEntries(url.searchParams),
      bearer: req.headers.authorization?.replace(/^Bearer /, ''),
      body,
    };
    this.requests.push(request);
    return request;
  }

  private async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of req as AsyncIterable<Buffer>) parts.push(part);
    const request = this.note(req, Buffer.concat(parts).toString('latin1'));
    const { status = 200, body } = this.answer(request);
    const problem = status >= 400 && typeof body === 'object' && body !== null;
    res.writeHead(status, { 'content-type': problem ? 'application/problem+json' : 'application/json' });
    res.end(body === undefined ? '' : JSON.stringify(problem ? { requestId: 'r-1', ...body } : body));
  }

  private answer(request: SeenRequest): Answer {
    const key = `${request.method} ${request.path}`;
    if (key === 'POST /login') return this.login(request);
    if (key === 'POST /login/refresh') return this.refresh(request);
    if (request.bearer !== this.accessToken && request.bearer !== 'vcs_token')
      return { status: 401, body: { code: 'unauthenticated', detail: 'Log in first.' } };
    if (key === 'GET /whoami')
      return {
        body: {
          user: { id: '1', name: 'admin', admin: true, enabled: true, createdAt: '2026-01-01T00:00:00Z' },
          via: 'session',
          projects: [{ id: '2', name: 'default', role: 'project-admin' }],
        },
      };
    return (this.routes.get(key) ?? this.fallback)(request);
  }

  private login(request: SeenRequest): Answer {
    const { name, password } = JSON.parse(request.body) as { name: string; password: string };
    if (name !== 'admin' || password !== 'right password')
      return { status: 401, body: { code: 'invalid_credentials', detail: 'The name or the password is wrong.' } };
    return {
      body: { accessToken: this.accessToken, expiresIn: 900, refreshToken: this.refreshToken, refreshExpiresIn: 1000 },
    };
  }

  private refresh(request: SeenRequest): Answer {
    const { refreshToken } = JSON.parse(request.body) as { refreshToken: string };
    if (refreshToken !== this.refreshToken)
      return { status: 401, body: { code: 'refresh_token_reused', detail: 'Log in again.' } };
    this.refreshes += 1;
    this.accessToken = `access-${this.refreshes}`;
    this.refreshToken = `refresh-${this.refreshes}`;
    return {
      body: { accessToken: this.accessToken, expiresIn: 900, refreshToken: this.refreshToken, refreshExpiresIn: 1000 },
    };
  }
}
