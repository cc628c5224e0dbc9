import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FetchReport } from './fetch-messages';
import { UrlDownload } from './url-download';

let server: Server;
let port: number;
let directory: string;
const asked: string[] = [];
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'vc-download-'));
  server = createServer((req, res) => {
    asked.push(`${req.headers.host} ${req.url}`);
    if (req.url === '/again') res.writeHead(302, { location: '/secret' }).end();
    else res.writeHead(200, { 'content-type': 'text/plain' }).end('what nobody outside may read');
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => asked.splice(0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

type Lookup = ConstructorParameters<typeof UrlDownload>[2];

/** A name server that gives these answers one after the other; an answer may have several addresses. */
const answering = (...answers: string[][]): { lookup: Lookup; count: () => number } => {
  let count = 0;
  const lookup = (
    _name: string,
    _options: object,
    callback: (error: null, addresses: LookupAddress[]) => void,
  ): void => {
    const addresses = answers[Math.min(count, answers.length - 1)] ?? [];
    count += 1;
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { lookup: lookup as Lookup, count: () => count };
};

const download = async (
  url: string,
  allowPrivate: boolean,
  lookup: Lookup,
): Promise<{ last: FetchReport | undefined; bytes: string }> => {
  const path = join(directory, 'file');
  const file = await open(path, 'w+');
  const reports: FetchReport[] = [];
  try {
    const job = {
      url,
      allowPrivate,
      maxBytes: 1_000_000,
      sha512: false,
      silenceMs: 5000,
      minBytesPerSecond: 1,
      paceWindowMs: 5000,
    };
    await new UrlDownload(job, async (report) => void reports.push(report), lookup).into(file);
  } finally {
    await file.close();
  }
  return { last: reports.at(-1), bytes: readFileSync(path, 'utf8') };
};

it('connects to the address that was judged, by whatever name', async () => {
  const { lookup } = answering(['127.0.0.1']);
  expect(await download(`http://images.example:${port}/x`, true, lookup)).toMatchObject({
    last: { kind: 'done', bytes: 28 },
    bytes: 'what nobody outside may read',
  });
  expect(asked).toEqual([`images.example:${port} /x`]);
});

it.each([
  ['127.0.0.1'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['::7f00:1'],
  ['64:ff9b::7f00:1'],
  ['2002:7f00:1::'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['fd00::1'],
])('does not connect to a name that stands for %s', async (address) => {
  const { lookup } = answering([address]);
  expect((await download(`http://images.example:${port}/x`, false, lookup)).last).toMatchObject({
    kind: 'failed',
    code: 'url_not_allowed',
    retry: false,
  });
  expect(asked).toEqual([]);
});

it('refuses a name that has a private address among public ones', async () => {
  const { lookup } = answering(['93.184.216.34', '127.0.0.1']);
  expect((await download(`http://images.example:${port}/x`, false, lookup)).last).toMatchObject({
    kind: 'failed',
    code: 'url_not_allowed',
  });
  expect(asked).toEqual([]);
});

it('asks for the name once per connection: no second answer is used unjudged', async () => {
  const names = answering(['127.0.0.1'], ['127.0.0.2']);
  await download(`http://images.example:${port}/x`, true, names.lookup);
  expect(names.count()).toBe(1);
});
