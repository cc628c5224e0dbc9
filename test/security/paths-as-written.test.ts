import { Agent, request } from 'undici';
import { waitFor } from '../support/wait-for';
import { ManagementStack } from './management-stack';
import { exchange, RawHttp } from './raw-http';

jest.setTimeout(60_000);

const crlf = '\r\n';
/** Ways to write a path that some read as the same: each with a name, and how it is made of one. */
const variants: [string, (path: string) => string][] = [
  ['a letter escaped', (path) => path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`)],
  ['a letter escaped twice', (path) => path.replace(/.$/, (last) => `%25${last.charCodeAt(0).toString(16)}`)],
  ['its first word escaped', (path) => path.replace(/^\/./, (first) => `/%${first.charCodeAt(1).toString(16)}`)],
  ['an escaped slash', (path) => path.replace(/\/([^/]*)$/, '%2f$1')],
  ['an escaped slash at the end', (path) => `${path}%2F`],
  ['two slashes', (path) => path.replace(/\/([^/]*)$/, '//$1')],
  ['a slash at the end', (path) => `${path.replace(/\/$/, '')}//`],
  ['upper case', (path) => path.toUpperCase()],
  ['a parameter of a segment', (path) => `${path};x=y`],
  ['a parameter of the first segment', (path) => path.replace(/^(\/[^/]*)/, '$1;x=y')],
  ['a step in place', (path) => path.replace(/\/([^/]*)$/, '/./$1')],
  ['an escaped step in place', (path) => path.replace(/\/([^/]*)$/, '/%2e/$1')],
  ['a way there and back', (path) => path.replace(/\/([^/]*)$/, '/x/../$1')],
  ['an escaped way there and back', (path) => path.replace(/\/([^/]*)$/, '/x/%2e%2e/$1')],
  ['a blank behind it', (path) => `${path}%20`],
];

describe('a path that is written in another way is another path', () => {
  let stack: ManagementStack;
  let port: number;
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });

  beforeAll(async () => {
    stack = await ManagementStack.start();
    port = Number(new URL(stack.url).port);
  });
  afterAll(async () => {
    await dispatcher.destroy();
    await stack?.close();
  });

  const head = (line: string, ...headers: string[]): string =>
    [`${line} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers, '', ''].join(crlf);
  const statusOf = async (line: string, ...headers: string[]): Promise<number | undefined> =>
    (await exchange(port, head(line, ...headers))).statuses[0];
  /** All that was counted under the route. */
  const counted = async (route: string): Promise<number> => {
    const text = await (await request(`${stack.url}/metrics`, { dispatcher })).body.text();
    const lines = text.split('\n').filter((line) => line.startsWith('http_request_duration_seconds_count{'));
    return lines
      .filter((line) => line.includes(`route="${route}"`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const bearer = (): string => `Authorization: Bearer ${stack.admin.token}`;

  it('has no route of the API, for whoever asks, and is counted under none', async () => {
    expect(await statusOf('GET /api/v1/images', bearer())).toBe(200);
    expect(await statusOf('GET /api/v1/images')).toBe(401);
    await waitFor('both counted', async () => (await counted('/images')) === 2);
    for (const [name, vary] of variants)
      for (const headers of [[], [bearer()]])
        for (const method of ['GET', 'POST', 'OPTIONS'])
          expect([name, method, await statusOf(`${method} ${vary('/api/v1/images')}`, ...headers)]).toEqual([
            name,
            method,
            404,
          ]);
    expect(await counted('/images')).toBe(2);
    expect(stack.logs.filter((line) => line.includes('"path":"/api/v1/images"'))).toHaveLength(2);
  });

  it('is decoded where a reference stands, once, and what is asked for is what is looked up', async () => {
    for (const [written, ref] of [
      ['%2e%2e', '..'],
      ['a%2Fb', 'a/b'],
      ['a%252Fb', 'a%2Fb'],
      ['a;b', 'a;b'],
      ['%69', 'i'],
    ]) {
      const { statuses, text } = await exchange(port, head(`GET /api/v1/images/${written}`, bearer()));
      expect([written, statuses[0], text.includes(`${JSON.stringify(ref).slice(1, -1)}`)]).toEqual([
        written,
        404,
        true,
      ]);
    }
  });

  it('is no file of the console, and leads to none outside of it', async () => {
    for (const up of ['..', '%2e%2e', '..%2f..', '%2e%2e%2f%2e%2e', '..%5c..', 'x/../..', 'assets/../..', '.%2e'])
      for (const file of ['package.json', 'src/main.ts', 'etc/passwd']) {
        const { statuses, text } = await exchange(port, head(`GET /console/${up}/${file}`));
        // What is no file may be the application itself, which says that there is no such page.
        const refused = [400, 403, 404].includes(statuses[0] ?? 0) || text.includes('<div id="root">');
        expect([up, file, refused]).toEqual([up, file, true]);
        expect(/vc-stack"|root:|import /.test(text)).toBe(false);
      }
    for (const written of ['/%63onsole/', '/Console/', '/console;x/', '//console/', '/x/../console/', '/./console/'])
      expect([written, [400, 404].includes((await statusOf(`GET ${written}`)) ?? 0)]).toEqual([written, true]);
  });

  it('is no path for hosts: whoever has no certificate learns of none', async () => {
    const answered = async (path: string): Promise<number | undefined> =>
      (
        await exchange(
          stack.nodePort,
          head(`POST ${path}`, 'Content-Type: application/json', 'Content-Length: 2') + '{}',
        )
      ).statuses[0];
    expect(await answered('/node/enroll')).not.toBe(401);
    for (const [name, vary] of variants) expect([name, await answered(vary('/node/enroll'))]).toEqual([name, 401]);
  });

  describe('has no socket', () => {
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    /** The answer to an upgrade; a socket that opens is closed again. */
    const upgraded = async (path: string): Promise<number | undefined> => {
      const raw = await RawHttp.open(port);
      raw.write([`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: Upgrade', ...upgrade, '', ''].join(crlf));
      try {
        return await waitFor('an answer', () => raw.answer().statuses[0], 10_000);
      } finally {
        raw.socket.destroy();
      }
    };

    it('of a console', async () => {
      expect(await upgraded('/api/v1/console?ticket=x')).toBe(401);
      for (const [name, vary] of variants)
        expect([name, await upgraded(`${vary('/api/v1/console')}?ticket=x`)]).toEqual([name, 404]);
    });

    it('of live events', async () => {
      const query = '?EIO=4&transport=websocket';
      expect(await upgraded(`/api/v1/live/${query}`)).toBe(101);
      // What lies below is the library's to refuse, which says 400.
      for (const [name, vary] of variants)
        expect([name, [400, 404].includes((await upgraded(`${vary('/api/v1/live/')}${query}`)) ?? 0)]).toEqual([
          name,
          true,
        ]);
      expect(await upgraded(`/api/v1/live${query}`)).toBe(404);
    });
  });
});
