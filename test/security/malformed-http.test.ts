import { connect as connectTcp } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Container } from 'inversify';
import { ServerIdentity } from '../../src/core/m2m/ca/server-identity';
import { Agent } from '../integration/m2m/agent-harness';
import { waitFor } from '../support/wait-for';
import { ManagementStack } from './management-stack';
import { exchange, RawHttp } from './raw-http';

jest.setTimeout(120_000);

const crlf = '\r\n';
const limits = {
  VC_STACK_LIMITS__HANDSHAKE_MS: '1000',
  VC_STACK_LIMITS__HEADERS_MS: '1000',
  VC_STACK_LIMITS__BODY_MS: '1500',
  VC_STACK_LIMITS__CONNECTIONS_PER_ADDRESS: '60',
};

interface Listener {
  name: string;
  port: number;
  tls: ConnectionOptions;
  /** A request that is in order. */
  good: string;
  post: string;
}

describe('malformed HTTP', () => {
  let stack: ManagementStack;
  let agent: Agent;
  let all: Listener[];

  beforeAll(async () => {
    stack = await ManagementStack.start(limits);
    const { token } = await stack.admin.ok('POST', '/host-tokens', {});
    agent = await Agent.start({ token, name: 'raw-host' });
    const host = await waitFor('the host', async () =>
      (await stack.admin.ok('GET', '/hosts')).items.find((h) => h.lastSeenAt !== null),
    );
    const [endpoint] = await stack.db.database.query<{ port: number }>('SELECT port FROM host WHERE id = $1', [
      host.id,
    ]);
    const { client, root } = (stack.app as unknown as { parts(): Container }).parts().get(ServerIdentity).current();
    all = [
      { name: '8443', port: Number(new URL(stack.url).port), tls: {}, good: 'GET /health', post: 'POST /api/v1/login' },
      { name: '8445', port: stack.nodePort, tls: {}, good: 'POST /node/enroll', post: 'POST /node/enroll' },
      {
        name: '8444',
        port: endpoint?.port ?? 0,
        tls: { cert: client.certificate, key: client.key, ca: root },
        good: 'GET /verbs/outcome?key=x',
        post: 'POST /verbs/instance.absent',
      },
    ];
  });
  afterAll(async () => {
    await agent?.destroy();
    await stack?.close();
  });

  const head = (line: string, ...headers: string[]): string =>
    [`${line} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers, '', ''].join(crlf);
  const json = 'Content-Type: application/json';

  /** None of these is a 500, none is taken for two requests, and each is refused. */
  const cases: [string, (l: Listener) => string, number[]][] = [
    ['two lengths', (l) => head(l.post, json, 'Content-Length: 2', 'Content-Length: 3') + '{}x', [400]],
    ['two lengths in one header', (l) => head(l.post, json, 'Content-Length: 2, 3') + '{}x', [400]],
    ['a length that is no number', (l) => head(l.post, json, 'Content-Length: 2x') + '{}', [400]],
    ['a negative length', (l) => head(l.post, json, 'Content-Length: -1') + '{}', [400]],
    ['a length with a sign', (l) => head(l.post, json, 'Content-Length: +2') + '{}', [400]],
    [
      'length and chunks',
      (l) =>
        head(l.post, json, 'Content-Length: 4', 'Transfer-Encoding: chunked') +
        `0${crlf}${crlf}GET /smuggled HTTP/1.1${crlf}Host: a${crlf}${crlf}`,
      [400],
    ],
    [
      'chunks twice',
      (l) => head(l.post, json, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + `0${crlf}${crlf}`,
      [400],
    ],
    [
      'an encoding after chunks',
      (l) => head(l.post, json, 'Transfer-Encoding: chunked, identity') + `0${crlf}${crlf}`,
      [400],
    ],
    [
      'an unknown transfer encoding',
      (l) => head(l.post, json, 'Transfer-Encoding: xchunked') + `0${crlf}${crlf}`,
      [400],
    ],
    [
      'a chunk size that is none',
      (l) => head(l.post, json, 'Transfer-Encoding: chunked') + `zz${crlf}{}${crlf}`,
      [400],
    ],
    [
      'a chunk that is longer than it says',
      (l) => head(l.post, json, 'Transfer-Encoding: chunked') + `1${crlf}{}${crlf}0${crlf}${crlf}`,
      [400],
    ],
    [
      'a chunk size beyond all numbers',
      (l) => head(l.post, json, 'Transfer-Encoding: chunked') + `fffffffffffffffff${crlf}{}`,
      [400],
    ],
    ['chunks ended by line feeds', (l) => head(l.post, json, 'Transfer-Encoding: chunked') + '2\n{}\n0\n\n', [400]],
    ['two hosts', (l) => head(l.good, 'Host: b'), [400]],
    ['no host', (l) => `${l.good} HTTP/1.1${crlf}Connection: close${crlf}${crlf}`, [400]],
    ['two authorizations', (l) => head(l.good, 'Authorization: Bearer a', 'Authorization: Bearer b'), [400]],
    ['headers beyond 16 KiB', (l) => head(l.good, `X-Large: ${'x'.repeat(20_000)}`), [431]],
    ['very many headers', (l) => head(l.good, ...Array.from({ length: 4_000 }, (_, i) => `X-${i}: y`)), [431]],
    ['a NUL in a header', (l) => head(l.good, 'X-Nul: a\u0000b'), [400]],
    ['a NUL in the path', (l) => head(l.good.replace(/ \/\w*/, ' /\u0000')), [400]],
    ['a lone CR in a header', (l) => head(l.good, 'X-Cr: a\rX-B: c'), [400]],
    ['a folded header', (l) => head(l.good, 'X-Fold: a', ' b'), [400]],
    ['a blank before the colon', (l) => head(l.good, 'X-Blank : a'), [400]],
    ['a header without a name', (l) => head(l.good, ': a'), [400]],
    ['an absolute target', (l) => head(l.good.replace(' /', ' https://elsewhere/')), [400]],
    ['an authority as target', (l) => head(l.good.replace(/ \/.*/, ' elsewhere:443')), [400]],
    ['a path that begins with two slashes', (l) => head(l.good.replace(' /', ' //')), [400]],
    ['nothing but two slashes', () => head('GET //'), [400]],
    ['a backslash', (l) => head(l.good.replace(' /', ' /\\')), [400]],
    ['a fragment', (l) => head(`${l.good}#x`), [400]],
    ['a broken escape', (l) => head(l.good.replace(' /', ' /%zz/')), [400]],
    ['an escape of no UTF-8', (l) => head(l.good.replace(' /', ' /%ff/')), [400]],
    ['an escaped NUL', (l) => head(l.good.replace(' /', ' /%00/')), [400]],
    ['an escaped way up', (l) => head(l.good.replace(/ \/\w*/, ' /%2e%2e%2f%2e%2e%2fetc%2fpasswd')), [401, 404]],
    ['a plain way up', (l) => head(l.good.replace(/ \/\w*/, ' /api/../../etc/passwd')), [401, 404]],
    ['bytes beyond ASCII in the path', (l) => head(l.good.replace(' /', ' /\u00e4')), [400]],
    ['a method of its own', (l) => head(l.good.replace(/^\w+/, 'BREW')), [400]],
    ['another version', (l) => `${l.good} HTTP/3.7${crlf}Host: a${crlf}${crlf}`, [400]],
    ['no HTTP at all', () => `\u0016\u0003\u0001 hello${crlf}${crlf}`, [400]],
    ['a body of no UTF-8', (l) => head(l.post, json, 'Content-Length: 13') + '{"name":"\u00ff\u00fe"}', [400]],
  ];

  it.each(cases)('is refused on every listener: %s', async (_, bytes, expected) => {
    const answers = await Promise.all(all.map(async (l) => [l.name, await exchange(l.port, bytes(l), l.tls)] as const));
    for (const [name, { statuses, text }] of answers) {
      expect([name, statuses.length, text.includes('root:')]).toEqual([name, 1, false]);
      expect({ name, status: expected.includes(statuses[0] ?? 0) ? 'as stated' : statuses[0] }).toEqual({
        name,
        status: 'as stated',
      });
    }
  });

  it('takes a second request only after the first has ended in order', async () => {
    for (const { port, tls, good, name } of all) {
      const raw = await RawHttp.open(port, tls);
      raw.write(
        `${good} HTTP/1.1${crlf}Host: a${crlf}Content-Length: 0${crlf}${crlf}${good} HTTP/1.1${crlf}Host: a${crlf}Connection: close${crlf}Content-Length: 0${crlf}${crlf}`,
      );
      const { statuses } = await raw.closed;
      expect([name, statuses.length, new Set(statuses).size]).toEqual([name, 2, 1]);
    }
  });

  it('ends a connection that never says hello, or says it drop by drop', async () => {
    for (const { port } of all) {
      const silent = connectTcp({ host: '127.0.0.1', port });
      const slow = connectTcp({ host: '127.0.0.1', port });
      const drip = setInterval(() => slow.write(Buffer.from([0x16])), 200);
      for (const socket of [silent, slow]) socket.on('error', () => undefined).resume();
      await Promise.all([silent, slow].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
      clearInterval(drip);
    }
  });

  it('ends a connection whose headers do not come, or come drop by drop', async () => {
    for (const { port, tls, good } of all) {
      const silent = await RawHttp.open(port, tls);
      const slow = await RawHttp.open(port, tls);
      slow.write(`${good} HTTP/1.1${crlf}Host: a${crlf}X-Slow: `);
      const drip = setInterval(() => slow.write('x'), 100);
      const answers = await Promise.all([silent.closed, slow.closed]);
      clearInterval(drip);
      for (const { statuses } of answers) expect([[], [408]]).toContainEqual(statuses);
    }
  });

  it('ends a connection whose body comes drop by drop, at once where nobody wants it', async () => {
    const refused = [
      'POST /api/v1/nowhere',
      'POST /api/v1/instances',
      'POST /health',
      'PUT /api/v1/images/00000000-0000-4000-8000-000000000000/content',
      'POST /console/x',
    ];
    const unwanted = [
      ...refused.map((post) => ({ ...all[0], post }) as Listener),
      { ...all[1], post: 'POST /node/heartbeat' } as Listener,
      { ...all[2], post: 'POST /nowhere' } as Listener,
    ];
    for (const { port, tls, post } of unwanted) {
      const raw = await RawHttp.open(port, tls);
      raw.write(`${post} HTTP/1.1${crlf}Host: a${crlf}${json}${crlf}Content-Length: 100000${crlf}${crlf}{`);
      const drip = setInterval(() => raw.write(' '), 50);
      const { statuses } = await raw.closed;
      clearInterval(drip);
      expect([post, [401, 404].includes(statuses[0] ?? 0)]).toEqual([post, true]);
    }
    for (const { port, tls, post, name } of all) {
      const raw = await RawHttp.open(port, tls);
      raw.write(`${post} HTTP/1.1${crlf}Host: a${crlf}${json}${crlf}Content-Length: 100000${crlf}${crlf}{`);
      const drip = setInterval(() => raw.write(' '), 50);
      const { statuses } = await raw.closed;
      clearInterval(drip);
      expect([name, statuses]).toEqual([name, [408]]);
    }
  });

  it('lets a sender whose body is not wanted read the answer, though it sends on', async () => {
    const unwanted = [
      { ...all[0], post: 'POST /api/v1/nowhere' },
      { ...all[1], post: 'POST /node/heartbeat' },
      { ...all[2], post: 'POST /nowhere' },
    ] as Listener[];
    for (const { port, tls, post } of unwanted) {
      const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...tls });
      let text = '';
      const faults: string[] = [];
      socket.on('error', (error: NodeJS.ErrnoException) => faults.push(error.code ?? error.message));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      await new Promise((resolve) => socket.once('secureConnect', resolve));
      // Nothing is read until all is sent, as clients do that know no better.
      socket.pause();
      socket.write(`${post} HTTP/1.1${crlf}Host: a${crlf}${json}${crlf}Content-Length: 600000${crlf}${crlf}`);
      for (let part = 0; part < 6; part += 1)
        await new Promise((resolve) => socket.write(Buffer.alloc(100_000, ' '), resolve));
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).resume();
      await closed;
      expect([post, faults, /HTTP\/1\.1 (\d{3})/.exec(text)?.[1]]).toEqual([
        post,
        [],
        post.startsWith('POST /node') ? '401' : '404',
      ]);
    }
  });

  it('bounds the connections of one address', async () => {
    const { port } = all[0] as Listener;
    // All at once: one by one, the first may be closed for its silence before the last is there.
    const asked = await Promise.allSettled(Array.from({ length: 61 }, () => RawHttp.open(port)));
    const open = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    try {
      expect(open.length).toBeLessThan(61);
      expect(open.length).toBeGreaterThan(40);
    } finally {
      for (const raw of open) raw.socket.destroy();
    }
    await waitFor(
      'a place',
      async () => (await exchange(port, head('GET /health')).catch(() => undefined))?.statuses[0] === 200,
    );
  });

  it('takes no resumed session for a certificate', async () => {
    const { port } = all[1] as Listener;
    const session = await new Promise<Buffer>((resolve, reject) => {
      const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, minVersion: 'TLSv1.3' });
      socket.once('session', (ticket: Buffer) => {
        socket.destroy();
        resolve(ticket);
      });
      socket.on('error', reject);
      socket.resume();
    });
    for (const path of ['POST /node/heartbeat', 'GET /node/images/x/content', 'POST /node/renew']) {
      const { statuses, text } = await exchange(port, head(path, json, 'Content-Length: 2') + '{}', {
        session,
        minVersion: 'TLSv1.3',
      });
      expect([path, statuses, /"code":"certificate_required"/.test(text)]).toEqual([path, [401], true]);
    }
  });
});
