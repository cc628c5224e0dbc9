import { randomUUID } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import WebSocket from 'ws';
import { createRoot, createSigningRequest, issueWithKey } from '../../src/core/m2m/ca/certificates';
import { hostUri } from '../../src/core/m2m/ca/identity-uri';
import { decodeToken } from '../../src/core/m2m/enrolment-token';
import type { NodeRoutes } from '../../src/core/m2m/management/node-route';
import type { SocketRoutes } from '../../src/core/http/sockets/socket-route';
import { allModules } from '../../src/modules/all-modules';
import { differences, readAccessTable, type AccessTable } from './access-table';
import { makeIdentities, type Identity } from './identities';
import { ManagementStack } from './management-stack';
import { requests } from './requests';

jest.setTimeout(120_000);

interface Certificate {
  cert?: string;
  key?: string;
  hostId: string;
}

/**
 * Paths that the modules add to a listener, as their classes list them. Listing needs nothing that a constructor would
 * bring.
 */
const pathsOf = async <T>(
  pick: (wiring: { nodeRoutes?: unknown[]; sockets?: unknown[] }) => unknown[] | undefined,
  list: (part: T) => string[],
): Promise<string[]> => {
  const wirings = await Promise.all(allModules.map((m) => m.management?.()));
  return wirings
    .flatMap((wiring) => (wiring ? (pick(wiring) ?? []) : []))
    .flatMap((part) => list(Object.create((part as { prototype: object }).prototype) as T));
};

describe('who gets what from the other listeners', () => {
  let stack: ManagementStack;
  let identities: Map<string, Identity>;

  beforeAll(async () => {
    stack = await ManagementStack.start();
    identities = new Map((await makeIdentities(stack)).map((who) => [who.column, who]));
  });
  afterAll(() => stack?.close());

  const bearer = (column: string): string => identities.get(column)?.bearer ?? '';

  it('is what the table says, beside the routes', async () => {
    const stated = readAccessTable('access.md', 'Beside the routes');
    const seen: AccessTable = new Map();
    for (const key of stated.keys()) {
      const row = new Map<string, string>();
      for (const column of ['none', 'viewer', 'admin'])
        row.set(column, await get(`${stack.url}${key.split(' ')[1] ?? ''}`, bearer(column)));
      seen.set(key, row);
    }
    expect(differences(seen, stated)).toEqual([]);
  });

  it('is what the table says, for every socket', async () => {
    const paths = (
      await pathsOf<SocketRoutes>(
        (w) => w.sockets,
        (s) => s.socketRoutes().map((r) => `/api/v1${r.path}`),
      )
    ).concat('/api/v1/live');
    const cell = await requests['POST /instances/{ref}/actions/console']?.(stack, {
      column: 'member',
      bearer: '',
      user: 'member',
    });
    const instance = cell?.path.split('/')[2] ?? '';
    await stack.db.database.query(
      `INSERT INTO host (id, name, address, port, state, schedulable, state_reason) VALUES ($1::uuid, 'h1', '127.0.0.1', 1, 'unknown', false, '')`,
      [instance],
    );
    await stack.db.database.query(
      `UPDATE instance SET host_id = $1::uuid, state = 'running', machine = '{"vsock": true}' WHERE id = $1::uuid`,
      [instance],
    );
    const member = stack.client(bearer('member'));
    const ticketOf = async (path: string): Promise<string> => {
      if (path === '/api/v1/vsock')
        return (
          (await member.ok('POST', `/instances/${instance}/actions/vsock`, { port: 22 })).path.split('ticket=')[1] ?? ''
        );
      const protocol = path === '/api/v1/vnc' ? 'vnc' : 'serial';
      return (await member.ok('POST', `/instances/${instance}/actions/console`, { protocol })).ticket;
    };
    const seen: AccessTable = new Map();
    for (const path of paths) {
      const open =
        path === '/api/v1/live'
          ? live
          : (credential: string, origin?: string) => consoleSocket(path, credential, origin);
      const row = new Map<string, string>();
      for (const column of ['none', 'garbage', 'viewer', 'member, token', 'disabled', 'other type'])
        row.set(column, await open(bearer(column)));
      row.set('ticket', await open(await ticketOf(path)));
      row.set(
        'foreign page',
        await open(path === '/api/v1/live' ? bearer('viewer') : await ticketOf(path), 'https://elsewhere.example'),
      );
      seen.set(path, row);
    }
    expect(differences(seen, readAccessTable('access.md', 'Sockets'))).toEqual([]);
  });

  it('is what the table says, for every path of nodes', async () => {
    const modules = await pathsOf<NodeRoutes>(
      (w) => w.nodeRoutes,
      (r) => r.nodeRoutes().map((one) => `${one.method} /node${one.path}`),
    );
    const own = ['enroll', 'renew', 'heartbeat', 'tasks', 'events'].map((verb) => `POST /node/${verb}`);
    const [host, other, removed] = [await enrolled('n1'), await enrolled('n2'), await enrolled('n3')];
    await stack.db.database.query('UPDATE certificate SET revoked_at = now() WHERE host_id = $1', [removed.hostId]);
    const foreign = await createRoot('VC Stack root');
    const stranger = await issueWithKey(foreign, { role: 'host', uri: hostUri(host.hostId), hosts: [], validDays: 1 });
    const { client: server } = JSON.parse(
      readFileSync(join(stack.directory, 'state/management/tls/server.json'), 'utf8'),
    ) as { client: { certificate: string; key: string } };
    const callers: Record<string, Certificate> = {
      none: { hostId: host.hostId },
      stranger: { cert: stranger.certificate, key: stranger.key, hostId: host.hostId },
      management: { cert: server.certificate, key: server.key, hostId: host.hostId },
      host,
      'other host': { ...other, hostId: host.hostId },
      'removed host': removed,
    };
    const seen: AccessTable = new Map();
    for (const key of [...own, ...modules, 'GET /node/nothing']) {
      const row = new Map<string, string>();
      for (const [column, who] of Object.entries(callers)) row.set(column, await node(key, who));
      seen.set(key, row);
    }
    expect(differences(seen, readAccessTable('access.md', 'Nodes'))).toEqual([]);
  });

  const get = (url: string, token: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const req = httpsRequest(
        url,
        {
          rejectUnauthorized: false,
          agent: false,
          ...(token !== '' && { headers: { authorization: `Bearer ${token}` } }),
        },
        (res) => {
          res.resume().on('end', () => resolve((res.statusCode ?? 0) < 300 ? 'yes' : String(res.statusCode)));
        },
      );
      req.on('error', reject).end();
    });

  const consoleSocket = (path: string, credential: string, origin?: string, localAddress?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${stack.url.replace('https', 'wss')}${path}?ticket=${credential}`, {
        rejectUnauthorized: false,
        ...(origin !== undefined && { origin }),
        ...(localAddress !== undefined && { localAddress }),
      });
      socket.once('open', () => {
        socket.terminate();
        resolve('yes');
      });
      socket.once('unexpected-response', (req, res) => {
        resolve(String(res.statusCode));
        req.destroy();
      });
      socket.once('error', reject);
    });

  it('counts wrong API tokens at the live socket together with those of requests, and never refuses a right one', async () => {
    const wrong = 'vcs_00000000-0000-4000-8000-000000000000_wrong';
    const answers = [];
    for (let i = 0; i < 61; i += 1) answers.push(await live(wrong));
    expect([answers[0], answers.at(-1)]).toEqual(['401', 'too_many_attempts']);
    expect(await get(`${stack.url}/api/v1/instances`, wrong)).toBe('429');
    expect([await live(bearer('viewer')), await get(`${stack.url}/api/v1/instances`, bearer('viewer'))]).toEqual([
      'yes',
      'yes',
    ]);
  });

  /** Wherever a secret is shown: how a wrong one is answered, and how many an address has. Each is told by its own. */
  const doors: [name: string, limit: number, wrong: string, guess: (from: string) => Promise<string>][] = [
    ['an API token', 60, '401', async (from) => status(stack.client('vcs_x_wrong', from).call('GET', '/instances'))],
    ['a refresh token', 60, '401', async (from) => refused(from, '/login/refresh', { refreshToken: 'vcr_x_wrong' })],
    ['the ticket of a console', 60, '401', (from) => consoleSocket('/api/v1/console', 'wrong', undefined, from)],
    [
      'the ticket of a host',
      60,
      '401',
      async (from) => String((await call('POST /node/enroll', { hostId: '' }, await strangers(), from)).status),
    ],
    ['a name and its password', 10, '401', (from) => refused(from, '/login', { name: 'viewer', password: 'wrong' })],
    [
      'the own password of who is logged in',
      10,
      '422',
      (from) =>
        status(
          stack
            .client(bearer('member'), from)
            .call('POST', '/users/me/password', { current: 'wrong', password: 'a password that never is' }),
        ),
    ],
  ];

  it.each(doors)('counts what is wrong, and lets nobody guess on: %s', async (name, limit, wrong, guess) => {
    const from = `127.0.9.${1 + doors.findIndex((door) => door[0] === name)}`;
    const answers = [];
    for (let i = 0; i <= limit; i += 1) answers.push(await guess(from));
    expect(answers).toEqual([...Array<string>(limit).fill(wrong), '429']);
  });

  const status = async (answer: Promise<{ status: number }>): Promise<string> => String((await answer).status);

  const refused = (from: string, path: '/login' | '/login/refresh', body: object): Promise<string> =>
    status(stack.client('', from).unchecked('POST', path, body));

  /** What a host without a right ticket would send. */
  const strangers = async (): Promise<object> => ({
    ticket: 'wrong-'.repeat(8),
    csr: (await createSigningRequest('x')).csr,
    name: 'stranger',
    address: '127.0.0.1',
    port: 1,
  });

  const live = (credential: string, origin?: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = io(stack.url, {
        path: '/api/v1/live',
        auth: { token: credential },
        transports: ['websocket'],
        rejectUnauthorized: false,
        reconnection: false,
        forceNew: true,
        ...(origin !== undefined && { extraHeaders: { origin } }),
      });
      const end = (value: string): void => {
        socket.disconnect();
        resolve(value);
      };
      socket.on('connect', () => end('yes'));
      socket.on('connect_error', (error) =>
        end(error.message === 'unauthenticated' ? '401' : error.message === 'websocket error' ? '403' : error.message),
      );
    });

  const enrolled = async (name: string): Promise<Certificate> => {
    const { key, csr } = await createSigningRequest(name);
    const { token } = await stack.admin.ok('POST', '/host-tokens', {});
    const answer = await call(
      'POST /node/enroll',
      { hostId: '' },
      { ticket: decodeToken(token)?.ticket, csr, name, address: '127.0.0.1', port: 1 },
    );
    const { hostId, certificate } = JSON.parse(answer.text) as { hostId: string; certificate: string };
    return { cert: certificate, key, hostId };
  };

  const bodyFor = async (key: string, who: Certificate): Promise<unknown> => {
    const { csr } = await createSigningRequest('x');
    const name = `n${randomUUID().slice(0, 8)}`;
    switch (key.split('/').at(-1)) {
      case 'enroll':
        return {
          ticket: decodeToken((await stack.admin.ok('POST', '/host-tokens', {})).token)?.ticket,
          csr,
          name,
          address: '127.0.0.1',
          port: 1,
        };
      case 'renew':
        return { csr };
      case 'heartbeat':
        return {
          hostId: who.hostId,
          boot: randomUUID(),
          seq: 1,
          time: Date.now(),
          endpoint: { address: '127.0.0.1', port: 1 },
          agentVersion: '0',
          sections: {},
        };
      case 'tasks':
        return { tasks: [] };
      default:
        return key.startsWith('POST') ? { events: [] } : undefined;
    }
  };

  const call = (
    key: string,
    who: Certificate,
    body: unknown,
    localAddress?: string,
  ): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const [method = '', path = ''] = key.split(' ');
      const options = {
        method,
        host: '127.0.0.1',
        port: stack.nodePort,
        path: path.replace(':id', randomUUID()),
        rejectUnauthorized: false,
        agent: false as const,
        ...(who.cert && { cert: who.cert, key: who.key }),
        ...(localAddress !== undefined && { localAddress }),
      };
      const req = httpsRequest(options, (res) => {
        let text = '';
        res.on('data', (chunk: Buffer) => (text += chunk.toString()));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, text }));
      });
      req.on('error', reject);
      req.end(body === undefined ? undefined : JSON.stringify(body));
    });

  const node = async (key: string, who: Certificate): Promise<string> => {
    const { status, text } = await call(key, who, await bodyFor(key, who));
    const { code, detail } = (status === 200 ? {} : JSON.parse(text)) as { code?: string; detail?: string };
    // An image that is not there: the caller was let through to look for it.
    return status === 200 || (code === 'not_found' && detail?.includes('image')) ? 'yes' : String(status);
  };
});
