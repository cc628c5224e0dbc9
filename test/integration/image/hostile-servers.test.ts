import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { WorkflowEngine } from '../../../src/core/workflow/engine/workflow-engine';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { ImageFiles } from '../../../src/modules/image/management/images/image-files';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { children } from './image-children';
import { ImageFixture } from './image-fixture';

jest.setTimeout(120_000);

let db: TestDatabase;
let f: ImageFixture;
let server: Server;
let origin: string;
const sockets = new Set<Socket>();
/** What the server does with a connection whose request names this path. */
const answers = new Map<string, (socket: Socket) => void>();
const calls = new Map<string, number>();
let names = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    socket.once('data', (request: Buffer) => {
      const path = request.toString('latin1').split(' ')[1] ?? '/';
      calls.set(path, (calls.get(path) ?? 0) + 1);
      answers.get(path)?.(socket);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
  f = await ImageFixture.start(db.database, {
    image: {
      allowPrivateUrls: true,
      maxBytes: 16 * 1024 ** 2,
      reserveBytes: 0,
      minBytesPerSecond: 1024,
      paceSeconds: 15,
      imports: 18,
      importsPerProject: 18,
    },
  });
  // A disk that takes its time: an import that is over has left nothing by then.
  const files = f.container.get(ImageFiles);
  const discard = files.discard.bind(files);
  jest.spyOn(files, 'discard').mockImplementation(async (paths) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await discard(paths);
  });
}, 60_000);

afterAll(async () => {
  await f?.stop();
  await db?.close();
  for (const socket of sockets) socket.destroy();
  server?.close();
});

const importFrom = async (answer: (socket: Socket) => void): Promise<{ id: string; path: string }> => {
  const path = `/${++names}`;
  answers.set(path, answer);
  return { id: (await f.create({ name: `hostile ${names}`, url: origin + path })).id, path };
};
const end = (id: string): Promise<Awaited<ReturnType<ImageFixture['image']>>> =>
  waitFor(
    'the import to end',
    async () => {
      const image = await f.image(id);
      return image.state === 'ready' || image.state === 'error' ? image : null;
    },
    100_000,
  );
const failure = async (id: string): Promise<string> => {
  const [row] = await db.database.query<{ code: string }>(
    `SELECT error->>'code' AS code FROM task WHERE subject_id = $1`,
    [id],
  );
  return row?.code ?? '';
};

/**
 * Writes for ever, as fast as the other side takes it. One that takes it at once leaves no moment for other connections,
 * unless we take one.
 */
const flood = (socket: Socket, bytes: Buffer | string): void => {
  const more = (): void => {
    if (socket.destroyed) return;
    if (socket.write(bytes)) setImmediate(more);
    else socket.once('drain', more);
  };
  more();
};

const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');
const disk = Buffer.alloc(4 * 1024 ** 2, 1);

const hostile: [
  what: string,
  answer: (socket: Socket) => void,
  expected: { state: 'ready' | 'error'; codes: string[] },
][] = [
  [
    'a body and its close at once',
    (s) => void s.end(Buffer.concat([Buffer.from(head('Content-Length: 4194304', 'Connection: close')), disk])),
    { state: 'ready', codes: [] },
  ],
  [
    'half a body and its close at once',
    (s) => void s.end(Buffer.concat([Buffer.from(head('Content-Length: 8388608', 'Connection: close')), disk])),
    { state: 'error', codes: ['image_truncated', 'url_failed'] },
  ],
  [
    'chunks of a size that is no number',
    (s) => void s.end(`${head('Transfer-Encoding: chunked')}zz\r\nabc\r\n0\r\n\r\n`),
    { state: 'error', codes: ['url_failed'] },
  ],
  [
    'a chunk of 2^64 bytes',
    (s) => void s.write(`${head('Transfer-Encoding: chunked')}FFFFFFFFFFFFFFFFF\r\nabc`),
    { state: 'error', codes: ['url_failed'] },
  ],
  [
    'both a length and chunks',
    (s) => void s.end(`${head('Transfer-Encoding: chunked', 'Content-Length: 5')}1\r\na\r\n0\r\n\r\n`),
    { state: 'error', codes: ['url_failed'] },
  ],
  [
    'two lengths',
    (s) => void s.end(`${head('Content-Length: 5', 'Content-Length: 7')}hello`),
    { state: 'error', codes: ['url_failed'] },
  ],
  [
    'headers without end',
    (s) => (s.write('HTTP/1.1 200 OK\r\n'), flood(s, `X-A: ${'a'.repeat(1000)}\r\n`)),
    { state: 'error', codes: ['url_failed'] },
  ],
  [
    'informational answers without end',
    (s) => flood(s, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
    { state: 'error', codes: ['url_too_slow', 'url_failed'] },
  ],
  [
    'redirects to itself',
    (s) => void s.end('HTTP/1.1 302 Found\r\nLocation: ?\r\nContent-Length: 0\r\n\r\n'),
    { state: 'error', codes: ['url_failed'] },
  ],
  [
    'a redirect whose body has no end',
    (s) => (s.write('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n'), flood(s, disk)),
    { state: 'error', codes: ['url_failed'] },
  ],
  [
    'a redirect to a file',
    (s) => void s.end('HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n'),
    { state: 'error', codes: ['url_not_allowed'] },
  ],
  [
    'a gzip bomb as content encoding',
    (s) =>
      void s.end(
        Buffer.concat([
          Buffer.from(head('Content-Encoding: gzip', 'Connection: close')),
          gzipSync(Buffer.alloc(64 * 1024 ** 2)),
        ]),
      ),
    { state: 'error', codes: ['url_failed'] },
  ],
  [
    'a reset in the middle',
    (s) => void s.write(Buffer.concat([Buffer.from(head('Content-Length: 8388608')), disk]), () => s.resetAndDestroy()),
    { state: 'error', codes: ['url_failed'] },
  ],
  ['a body without end', (s) => (s.write(head()), flood(s, disk)), { state: 'error', codes: ['image_too_large'] }],
  [
    'a length that is no number',
    (s) => void s.end(`${head('Content-Length: 1e9')}hello`),
    { state: 'error', codes: ['url_failed'] },
  ],
  ['what is no HTTP', (s) => void s.end('SSH-2.0-OpenSSH_9.2p1\r\n'), { state: 'error', codes: ['url_failed'] }],
  ['nothing at all', (s) => void s.destroy(), { state: 'error', codes: ['url_failed'] }],
  [
    'a byte per second',
    (s) => {
      s.write(head('Content-Length: 1000000'));
      const timer = setInterval(() => s.write('x'), 1000);
      s.on('close', () => clearInterval(timer));
    },
    { state: 'error', codes: ['url_too_slow'] },
  ],
];

describe('a server that sends', () => {
  const ids = new Map<string, string>();
  // All at once: broken connections are tried again for half a minute.
  beforeAll(async () => {
    for (const [what, answer] of hostile) ids.set(what, (await importFrom(answer)).id);
  });

  it.each(hostile)('%s ends its import, and nothing else', async (what, _answer, { state, codes }) => {
    const id = ids.get(what) ?? '';
    const image = await end(id);
    expect({ state: image.state, message: image.message }).toEqual({
      state,
      message: state === 'ready' ? '' : expect.stringMatching(/\w{4}/),
    });
    if (codes.length > 0) expect(codes).toContain(await failure(id));
    expect(f.files().filter((file) => file.startsWith(id))).toEqual([]);
  });
});

it('gives up an import whose process dies three times, says so, and leaves nothing', async () => {
  const { id, path } = await importFrom((socket) => void socket.write(head('Content-Length: 1000000')));
  for (const death of [1, 2, 3]) {
    await waitFor(`call ${death}`, () => calls.get(path) === death, 20_000);
    for (const pid of children('fetch-child')) process.kill(pid, 'SIGKILL');
  }
  expect(await end(id)).toMatchObject({
    state: 'error',
    message: expect.stringContaining('ended the process that read it'),
  });
  expect(await failure(id)).toBe('fetch_crashed');
  expect(calls.get(path)).toBe(3);
  expect(f.files().filter((file) => file.startsWith(id))).toEqual([]);
});

it('gives up an import with which three processes died, without another download', async () => {
  const { id, path } = await importFrom((socket) => void socket.write(head('Content-Length: 1000000')));
  await waitFor('the call', () => calls.get(path) === 1, 20_000);
  const engine = f.container.get(WorkflowEngine);
  await engine.stop();
  // As the third process leaves it that dies with it.
  await db.database.query(
    `UPDATE task SET deaths = 2, owner = 'dead', lease_until = now() - interval '1 second', wake_at = now() WHERE subject_id = $1`,
    [id],
  );
  await engine.start();
  expect(await end(id)).toMatchObject({ state: 'error', message: expect.stringContaining('died 3 times') });
  expect(calls.get(path)).toBe(1);
  expect(f.files().filter((file) => file.startsWith(id))).toEqual([]);
});

it('fetches as nobody, without capabilities, with limits, and with our code alone to be seen', async () => {
  const { id, path } = await importFrom((socket) => void socket.write(head('Content-Length: 1000000')));
  await waitFor('the call', () => calls.get(path) === 1, 20_000);
  const [pid] = children('fetch-child');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  for (const what of ['CapEff', 'CapPrm', 'CapInh', 'CapAmb'])
    expect(status).toMatch(new RegExp(`^${what}:\\s0+$`, 'm'));
  expect(status).toMatch(/^NoNewPrivs:\s1$/m);
  expect(status).toMatch(/^Uid:\s(?!0\b)(\d+)\s\1\s\1\s\1$/m);
  expect(status).toMatch(/^Groups:\s*$/m);
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  expect(limits).toMatch(/^Max file size +16777216 /m);
  expect(limits).toMatch(/^Max data size +1073741824 /m);
  for (const kind of ['pid', 'mnt', 'ipc', 'uts'])
    expect([kind, readlinkSync(`/proc/${pid}/ns/${kind}`)]).not.toEqual([kind, readlinkSync(`/proc/self/ns/${kind}`)]);
  expect(readdirSync(`/proc/${pid}/root`)).toEqual(
    expect.not.arrayContaining(['var', 'run', 'srv', 'boot', 'mnt', 'sys']),
  );
  expect(existsSync(`/proc/${pid}/root${f.stateDir}`)).toBe(false);
  expect(readdirSync(`/proc/${pid}/root/etc`)).toEqual(expect.arrayContaining(['hosts', 'resolv.conf']));
  expect(readdirSync(`/proc/${pid}/root/etc`)).toEqual(expect.not.arrayContaining(['passwd', 'shadow', 'ssh']));
  await f.api('DELETE', `/images/${id}`);
  await waitFor('the image to go', async () => (await f.api('GET', `/images/${id}`)).status === 404);
  await waitFor('its process to go', () => children('fetch-child').length === 0);
});
