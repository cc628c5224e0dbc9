import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { ImageFixture } from './image-fixture';

jest.setTimeout(60_000);
let db: TestDatabase;
let f: ImageFixture;
let server: Server;
let origin: string;
let work: string;
let names = 0;
/** What the server has, by path. */
const files = new Map<string, { bytes: Buffer; type: string }>();

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'vc-odd-'));
  server = createServer((req, res) => {
    const file = files.get(req.url ?? '');
    if (file) res.writeHead(200, { 'content-type': file.type }).end(file.bytes);
    else res.writeHead(200).write('x');
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
  f = await ImageFixture.start(db.database, {
    image: { allowPrivateUrls: true, imports: 2, importsPerProject: 1, minBytesPerSecond: 1000, paceSeconds: 4 },
  });
});
afterAll(async () => {
  await f?.stop();
  await db?.close();
  server?.closeAllConnections();
  server?.close();
  rmSync(work, { recursive: true, force: true });
});

const run = (program: string, ...args: string[]): void =>
  void execFileSync(program, args, { stdio: 'pipe', cwd: work });
const disk = (): Buffer => {
  const raw = Buffer.alloc(2 * 1024 ** 2);
  for (let i = 0; i < 20; i++) raw.write(`block ${i}`, i * 100_000);
  writeFileSync(join(work, 'disk.raw'), raw);
  return raw;
};
/** The disk in a format of QEMU's. */
const converted = (format: string, ...options: string[]): Buffer => {
  disk();
  rmSync(join(work, 'out'), { force: true });
  run('qemu-img', 'convert', '-f', 'raw', '-O', format, ...options, 'disk.raw', 'out');
  return readFileSync(join(work, 'out'));
};
/**
 * An encrypted disk of 1 MiB. qemu-img measures its own processor time for it, which a kernel that counts in ticks gives
 * as none now and then: then it refuses, and is asked again.
 */
const encrypted = (format: string, options: string): Buffer => {
  const args = ['create', '-q', '-f', format, '--object', 'secret,id=s,data=secret', '-o', options, 'encrypted', '1M'];
  for (let attempt = 1; ; attempt += 1)
    try {
      run('qemu-img', ...args);
      return readFileSync(join(work, 'encrypted'));
    } catch (error) {
      if (attempt === 20 || !String(error).includes('accurate CPU usage')) throw error;
    }
};
const upload = async (bytes: Buffer): ReturnType<ImageFixture['upload']> =>
  f.upload((await f.create({ name: `odd ${++names}` })).id, bytes);

it.each<[string, () => Buffer]>([
  ['qcow2 with lazy refcounts', () => converted('qcow2', '-o', 'compat=1.1,lazy_refcounts=on')],
  ['qcow2 with refcounts of one bit', () => converted('qcow2', '-o', 'refcount_bits=1')],
  ['qcow2 with all allocated beforehand', () => converted('qcow2', '-o', 'preallocation=full')],
  ['qcow2 in clusters of 2 MiB', () => converted('qcow2', '-o', 'cluster_size=2M')],
  [
    'qcow2 with a snapshot in it',
    () => {
      const bytes = converted('qcow2');
      writeFileSync(join(work, 'out'), bytes);
      run('qemu-img', 'snapshot', '-c', 'before', 'out');
      return readFileSync(join(work, 'out'));
    },
  ],
])('takes %s', async (_what, make) => {
  const { status, body } = await upload(make());
  expect({ status, detail: body.detail }).toEqual({ status: 200, detail: undefined });
  expect(body).toMatchObject({
    state: 'ready',
    sourceFormat: 'qcow2',
    sha256: createHash('sha256').update(disk()).digest('hex'),
  });
});

it.each<[string, string, RegExp, () => Buffer]>([
  ['qcow (version 1)', 'unsupported_format', /qemu-img convert/, () => converted('qcow')],
  ['VMDK', 'unsupported_format', /VMDK.*qemu-img convert/, () => converted('vmdk', '-o', 'subformat=streamOptimized')],
  ['VHDX', 'unsupported_format', /VHDX.*qemu-img convert/, () => converted('vhdx')],
  ['VDI', 'unsupported_format', /VDI.*qemu-img convert/, () => converted('vdi')],
  ['VHD of fixed size', 'unsupported_format', /VHD.*qemu-img convert/, () => converted('vpc', '-o', 'subformat=fixed')],
  ['VHD that grows', 'unsupported_format', /VHD.*qemu-img convert/, () => converted('vpc')],
  [
    'encrypted qcow2',
    'image_encrypted',
    /encrypted/,
    () => encrypted('qcow2', 'encrypt.format=luks,encrypt.key-secret=s,encrypt.iter-time=200'),
  ],
  ['a LUKS volume', 'unsupported_format', /LUKS.*encrypted/, () => encrypted('luks', 'key-secret=s,iter-time=200')],
  [
    'an image in gzip',
    'unsupported_format',
    /gzip.*gunzip/,
    () => (disk(), execFileSync('gzip', ['-c', 'disk.raw'], { cwd: work })),
  ],
  [
    'an image in xz',
    'unsupported_format',
    /xz.*unxz/,
    () => (disk(), execFileSync('xz', ['-c', 'disk.raw'], { cwd: work })),
  ],
  [
    'an OVA',
    'unsupported_format',
    /OVA.*tar -xf.*qemu-img convert/,
    () => {
      writeFileSync(join(work, 'machine.ovf'), '<Envelope/>');
      writeFileSync(join(work, 'machine.vmdk'), converted('vmdk'));
      run('tar', '-cf', 'machine.ova', 'machine.ovf', 'machine.vmdk');
      return readFileSync(join(work, 'machine.ova'));
    },
  ],
])('refuses %s with the advice that fits', async (_what, code, words, make) => {
  const { status, body } = await upload(make());
  expect({ status, code: body.code }).toEqual({ status: 422, code });
  expect(body.detail).toMatch(words);
});

it('takes a real ISO', async () => {
  mkdirSync(join(work, 'tree'), { recursive: true });
  writeFileSync(join(work, 'tree', 'README'), 'an installer');
  run('genisoimage', '-quiet', '-J', '-r', '-V', 'INSTALL', '-o', 'install.iso', 'tree');
  const bytes = readFileSync(join(work, 'install.iso'));
  expect(await upload(bytes)).toMatchObject({
    status: 200,
    body: { state: 'ready', sourceFormat: 'raw', sourceBytes: bytes.length },
  });
});

const settled = (id: string): ReturnType<ImageFixture['image']> =>
  waitFor(
    'the import to end',
    async () => {
      const image = await f.image(id);
      return image.state === 'ready' || image.state === 'error' ? image : null;
    },
    50_000,
  );

it('says of a page that came instead of an image what it is, and what its server called it', async () => {
  files.set('/page', {
    bytes: Buffer.from(`<!DOCTYPE html><html><body>${'Please log in. '.repeat(40)}</body></html>`),
    type: 'text/html; charset=utf-8',
  });
  const { id } = await f.create({ name: 'page', url: `${origin}/page` });
  expect((await settled(id)).message).toMatch(/no disk.*web page.*text\/html/);
  expect((await upload(files.get('/page')?.bytes ?? Buffer.alloc(0))).body).toMatchObject({
    status: 422,
    code: 'not_a_disk',
  });
});

it('lets the imports of others go on beside those from servers that hardly send', async () => {
  files.set('/disk', { bytes: disk(), type: 'application/octet-stream' });
  const slow = [];
  for (const i of [1, 2, 3]) slow.push((await f.create({ name: `crawl ${i}`, url: `${origin}/crawl${i}` })).id);
  const other = (await f.api('POST', '/images?project=beta', { name: 'other', url: `${origin}/disk` }, 'admin')).body;
  const ready = await waitFor(
    'the other import',
    async () => {
      const { body } = await f.api('GET', `/images/${other.id}`, undefined, 'admin');
      return body.state === 'importing' ? null : body;
    },
    30_000,
  );
  expect(ready).toMatchObject({ state: 'ready', message: '' });
  expect((await f.image(slow.at(-1) ?? '')).state).toBe('importing');
  for (const id of slow) expect((await settled(id)).message).toMatch(/too slow/);
});
