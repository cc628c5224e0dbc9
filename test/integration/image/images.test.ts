import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { connect } from 'node:tls';
import { HttpServer } from '../../../src/core/http/server/http-server';
import { ImageSweeper } from '../../../src/modules/image/management/images/image-sweeper.service';
import { Images } from '../../../src/modules/image/contract/image.ports';
import { projectA } from '../../support/http';
import { type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { ImageFixture } from './image-fixture';
import { imageSuite } from './image-suite';

const root = resolve(__dirname, '../../..');
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
jest.setTimeout(30_000);
const suite = imageSuite();
const { disks, name } = suite;
let db: TestDatabase;
let f: ImageFixture;
beforeAll(() => {
  ({ db, f } = suite.started());
});

describe('upload', () => {
  it('takes raw bytes, whose size is rounded up to whole blocks', async () => {
    const bytes = Buffer.alloc(1_000_001, 7);
    bytes.writeUInt16LE(0xaa55, 510);
    const made = await f.create({ name: name() });
    expect(made).toMatchObject({ state: 'queued', taskId: null, sha256: null });
    const { status, body } = await f.upload(made.id, bytes);
    expect(status).toBe(200);
    const padded = Buffer.concat([bytes, Buffer.alloc(1_003_520 - 1_000_001)]);
    expect(body).toMatchObject({
      state: 'ready',
      sourceFormat: 'raw',
      sourceBytes: 1_000_001,
      virtualBytes: 1_003_520,
      sha256: sha256(padded),
    });
    expect(readFileSync(f.stored(body.sha256)).equals(padded)).toBe(true);
    expect(statSync(f.stored(body.sha256)).mode & 0o777).toBe(0o444);
  });

  it('keeps by what firmware the disk boots, for those who place its instances', async () => {
    expect((await f.create({ name: name() })).firmware).toBe('any');
    const made = await f.create({ name: name(), firmware: 'uefi' });
    expect(made.firmware).toBe('uefi');
    await f.upload(made.id, Buffer.alloc(4096, 7));
    const ready = await db.database.tx((op) => f.container.get(Images).requireReady(op, made.projectId, made.id));
    expect(ready.firmware).toBe('uefi');
    const asking = await f.create({ name: name(), vmm: 'qemu' });
    expect([asking.vmm, made.vmm]).toEqual(['qemu', null]);
    await expect(f.create({ name: name(), vmm: 'No Kind' })).rejects.toThrow(/vmm/);
    await expect(f.create({ name: name(), firmware: 'coreboot' })).rejects.toThrow(/firmware/);
  });

  it.each([
    ['version 3', []],
    ['version 2', ['-o', 'compat=0.10']],
    ['compressed', ['-c']],
    ['zstd', ['-c', '-o', 'compression_type=zstd']],
    ['extended L2 entries', ['-o', 'extended_l2=on,cluster_size=128k']],
    ['small clusters', ['-o', 'cluster_size=512']],
  ])('unfolds qcow2: %s', async (_what, options) => {
    const { qcow2, raw } = disks.makeQcow2(options);
    const made = await f.create({ name: name(), checksum: `sha256:${sha256(qcow2).toUpperCase()}` });
    const { status, body } = await f.upload(made.id, qcow2);
    expect(body.detail).toBeUndefined();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: 'ready',
      sourceFormat: 'qcow2',
      sourceBytes: qcow2.length,
      virtualBytes: raw.length,
      sha256: sha256(raw),
    });
    expect(readFileSync(f.stored(body.sha256)).equals(raw)).toBe(true);
  });

  it('keeps a sparse gigabyte sparse', async () => {
    const file = openSync(join(disks.directory, 'sparse.raw'), 'w');
    ftruncateSync(file, 1024 ** 3);
    writeSync(file, 'data', 500 * 1024 * 1024);
    closeSync(file);
    disks.qemuImg(
      'convert',
      '-f',
      'raw',
      '-O',
      'qcow2',
      join(disks.directory, 'sparse.raw'),
      join(disks.directory, 'sparse.qcow2'),
    );
    const asQcow2 = await f.upload(
      (await f.create({ name: name() })).id,
      readFileSync(join(disks.directory, 'sparse.qcow2')),
    );
    expect(asQcow2.body).toMatchObject({ state: 'ready', virtualBytes: 1024 ** 3 });
    expect(statSync(f.stored(asQcow2.body.sha256)).blocks * 512).toBeLessThan(1024 ** 2);
    const zeros = Buffer.alloc(1024 * 1024);
    const stream = Readable.from(
      (function* () {
        for (let i = 0; i < 256; i++) yield i === 3 ? Buffer.alloc(1024 * 1024, 1) : zeros;
      })(),
    );
    const asRaw = await f.upload((await f.create({ name: name() })).id, stream);
    expect(asRaw.body).toMatchObject({ state: 'ready', virtualBytes: 256 * 1024 ** 2 });
    expect(statSync(f.stored(asRaw.body.sha256)).blocks * 512).toBeLessThan(2 * 1024 ** 2);
  }, 60_000);

  it('stores equal bytes once, and keeps them until the last image of them is deleted', async () => {
    const bytes = Buffer.alloc(8192, 142);
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) {
      const made = await f.create({ name: name() });
      expect((await f.upload(made.id, bytes)).status).toBe(200);
      ids.push(made.id);
    }
    expect((await f.api('DELETE', `/images/${ids[0]}`)).status).toBe(204);
    expect(existsSync(f.stored(sha256(bytes)))).toBe(true);
    expect((await f.api('DELETE', `/images/${ids[1]}`)).status).toBe(204);
    await waitFor('the file to go', () => !existsSync(f.stored(sha256(bytes))));
  });

  it.each<[string, string, () => Buffer, Record<string, unknown>]>([
    ['a backing file', 'backing_file', () => disks.file('qemu-img create -q -f qcow2 -b /etc/passwd -F raw'), {}],
    [
      'an external data file',
      'external_data_file',
      () => disks.file('qemu-img create -q -f qcow2 -o data_file=DATA,data_file_raw=on', '1G'),
      {},
    ],
    ['unknown features', 'unknown_features', () => disks.patched((b) => b.writeBigUInt64BE(1n << 20n, 72)), {}],
    ['an L1 table of 2^31 entries', 'invalid_header', () => disks.patched((b) => b.writeUInt32BE(2 ** 31, 36)), {}],
    ['refcount_order 63', 'invalid_header', () => disks.patched((b) => b.writeUInt32BE(63, 96)), {}],
    ['half an image', 'image_truncated', () => disks.makeQcow2().qcow2.subarray(0, 1_500_000), {}],
    ['no bytes', 'image_empty', () => Buffer.alloc(0), {}],
    ['a VMDK', 'unsupported_format', () => disks.file('qemu-img create -q -f vmdk', '1M'), {}],
    ['qcow2 that is called raw', 'format_mismatch', () => disks.makeQcow2().qcow2, { format: 'raw' }],
    ['raw that is called qcow2', 'format_mismatch', () => Buffer.alloc(4096), { format: 'qcow2' }],
    ['another checksum', 'checksum_mismatch', () => Buffer.alloc(4096), { checksum: 'a'.repeat(64) }],
    ['another SHA-512', 'checksum_mismatch', () => Buffer.alloc(4096), { checksum: `sha512:${'A'.repeat(128)}` }],
  ])('refuses %s and keeps no file', async (_what, code, bytes, input) => {
    const made = await f.create({ name: name(), ...input });
    const { status, body } = await f.upload(made.id, bytes());
    expect({ status, code: body.code }).toEqual({ status: 422, code });
    const image = await f.image(made.id);
    expect(image).toMatchObject({ state: 'error', sha256: null, message: body.detail });
    if (code === 'checksum_mismatch') {
      const algorithm = input['checksum']?.toString().startsWith('sha512') ? 'sha512' : 'sha256';
      expect(image.message).toContain(createHash(algorithm).update(bytes()).digest('hex'));
      expect(image.message).toContain('aaaaaaaa');
    }
    const ready = f.container.get(Images).requireReady(db.database.op, projectA.id, made.id);
    await expect(ready).rejects.toMatchObject({ status: 409, code: 'image_not_ready' });
    expect((await f.upload(made.id, Buffer.alloc(4096))).body.code).toBe('image_not_queued');
    expect((await f.api('DELETE', `/images/${made.id}`)).status).toBe(204);
  });

  it('refuses a digest that cannot be one', async () => {
    const post = async (checksum: string): Promise<[number, string]> => {
      const { status, body } = await f.api('POST', '/images?project=alpha', { name: name(), checksum });
      return [status, body.code];
    };
    expect(await post('md5:d41d8cd98f00b204e9800998ecf8427e')).toEqual([400, 'unknown_algorithm']);
    expect(await post('sha256:abcdef')).toEqual([422, 'invalid_checksum']);
    expect(await post('a'.repeat(128))).toEqual([422, 'invalid_checksum']);
  });

  it('holds uploads to the size limit', async () => {
    const small = await ImageFixture.start(db.database, { image: { maxBytes: 65_536, maxVirtualBytes: 1_048_576 } });
    try {
      const announced = await small.create({ name: name() });
      expect(await small.upload(announced.id, Buffer.alloc(65_537, 1))).toMatchObject({
        status: 413,
        body: { code: 'image_too_large' },
      });
      const streamed = await small.create({ name: name() });
      expect(
        await small.upload(streamed.id, Readable.from([Buffer.alloc(40_000, 1), Buffer.alloc(40_000, 1)])),
      ).toMatchObject({ status: 413, body: { code: 'image_too_large' } });
      expect(small.files()).toEqual([]);
      for (const { id } of [announced, streamed]) await small.api('DELETE', `/images/${id}`);
    } finally {
      await small.stop();
    }
  });

  it('says that the disk is full, keeps nothing, and takes the bytes once there is room', async () => {
    const dir = join(disks.directory, 'full');
    mkdirSync(dir);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'vc-image-test', dir]);
    const full = await ImageFixture.start(db.database, { stateDir: dir, image: { reserveBytes: 0 } });
    try {
      const made = await full.create({ name: name() });
      const chunks = (): Readable =>
        Readable.from(
          (function* () {
            for (let i = 0; i < 100; i++) yield Buffer.alloc(65_536, i + 1);
          })(),
        );
      expect(await full.upload(made.id, chunks())).toMatchObject({ status: 507, body: { code: 'no_space' } });
      expect(await full.upload(made.id, Buffer.alloc(4 * 1024 * 1024, 1))).toMatchObject({
        status: 507,
        body: { code: 'no_space' },
      });
      // Fits as qcow2, but not once it is unfolded beside it.
      expect(await full.upload(made.id, disks.makeQcow2(['-c'], 7).qcow2)).toMatchObject({
        status: 507,
        body: { code: 'no_space' },
      });
      expect(full.files()).toEqual([]);
      expect(await full.image(made.id)).toMatchObject({ state: 'queued' });
      expect(await full.upload(made.id, Buffer.alloc(8192, 1))).toMatchObject({
        status: 200,
        body: { state: 'ready' },
      });
      expect((await full.api('DELETE', `/images/${made.id}`)).status).toBe(204);
    } finally {
      await full.stop();
      execFileSync('umount', [dir]);
    }
  });

  it('is refused for now where its children cannot be shut in, as is an import', async () => {
    const made = await f.create({ name: name() });
    const path = process.env['PATH'];
    process.env['PATH'] = '/nonexistent';
    try {
      expect(await f.upload(made.id, Buffer.alloc(8192, 1))).toMatchObject({
        status: 503,
        body: { code: 'no_sandbox' },
      });
      expect(await f.image(made.id)).toMatchObject({ state: 'queued' });
      expect(f.files().filter((file) => file.startsWith(made.id))).toEqual([]);
      const fetched = await f.create({ name: name(), url: 'http://127.0.0.1:1/disk' });
      expect(
        await waitFor('the import to end', async () =>
          ((now) => (now.state === 'importing' ? null : now))(await f.image(fetched.id)),
        ),
      ).toMatchObject({ state: 'error', message: expect.stringContaining('operator') });
    } finally {
      process.env['PATH'] = path;
    }
    expect(await f.upload(made.id, Buffer.alloc(8192, 1))).toMatchObject({ status: 200, body: { state: 'ready' } });
    await f.api('DELETE', `/images/${made.id}`);
  });

  it('takes one upload at a time, and none that broke off', async () => {
    const made = await f.create({ name: name() });
    const url = new URL(f.container.get(HttpServer).address);
    const socket = connect({ host: url.hostname, port: Number(url.port), rejectUnauthorized: false });
    socket.on('error', () => undefined);
    socket.write(
      `PUT /api/v1/images/${made.id}/content HTTP/1.1\r\nhost: x\r\nauthorization: Bearer alice\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(5000)}`,
    );
    await waitFor('the upload to run', async () => (await f.image(made.id)).state === 'uploading');
    expect(await f.upload(made.id, Buffer.alloc(4096))).toMatchObject({
      status: 409,
      body: { code: 'upload_running' },
    });
    socket.destroy();
    const ended = await waitFor('the upload to end', async () => {
      const image = await f.image(made.id);
      return image.state === 'queued' ? image : null;
    });
    expect(ended.message).toMatch(/broke off/);
    expect(await f.upload(made.id, Buffer.alloc(4096))).toMatchObject({
      status: 200,
      body: { state: 'ready', message: '' },
    });
    await f.api('DELETE', `/images/${made.id}`);
  });

  it('is left alone by a sweep that looked before it began', async () => {
    // It knows as little of the upload as the process's own sweep, when that asks between the upload's row and its
    // being at work.
    const beside = await ImageFixture.start(db.database);
    try {
      const made = await f.create({ name: name() });
      let more = true;
      const slow = Readable.from(
        (async function* () {
          while (more) yield await new Promise<Buffer>((done) => setTimeout(() => done(Buffer.alloc(1024, 1)), 20));
        })(),
      );
      const upload = f.upload(made.id, slow);
      await waitFor('the upload to run', async () => (await f.image(made.id)).state === 'uploading');
      await beside.container.get(ImageSweeper).sweep();
      more = false;
      expect(await upload).toMatchObject({ status: 200, body: { state: 'ready' } });
      expect((await f.api('DELETE', `/images/${made.id}`)).status).toBe(204);
    } finally {
      await beside.stop();
    }
  });

  it('is stopped by a delete', async () => {
    const made = await f.create({ name: name() });
    let more = true;
    const slow = Readable.from(
      (async function* () {
        while (more) {
          yield Buffer.alloc(1000, 1);
          await new Promise((r) => setTimeout(r, 50));
        }
      })(),
    );
    const upload = f.upload(made.id, slow).catch(() => null);
    await waitFor('the upload to run', async () => (await f.image(made.id)).state === 'uploading');
    await f.api('DELETE', `/images/${made.id}`);
    await waitFor('the image to go', async () => (await f.api('GET', `/images/${made.id}`)).status === 404);
    more = false;
    await upload;
  });
});

it('settles what a killed server left between writing and renaming', async () => {
  const stateDir = mkdtempSync(join(disks.directory, 'killed-'));
  const child = spawn(
    process.execPath,
    ['-r', join(root, 'test/support/ts-register.js'), join(__dirname, 'dying-server.ts'), db.url, stateDir],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const line = await new Promise<string>((done, fail) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) done(text.trim());
    });
    child.once('exit', (code) => fail(new Error(`the server ended with ${code}`)));
  });
  child.kill('SIGKILL');
  await new Promise((done) => child.once('close', done));
  await waitFor(
    'the database to notice',
    async () =>
      (
        await db.database.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
        )
      ).length === 0,
  );
  const left = await db.database.query<{ state: string }>('SELECT state FROM image WHERE id = $1', [line]);
  expect(left).toEqual([{ state: 'uploading' }]);
  const next = await ImageFixture.start(db.database, { stateDir });
  try {
    expect(await next.image(line)).toMatchObject({
      state: 'queued',
      sha256: null,
      message: expect.stringContaining('interrupted'),
    });
    expect(next.files()).toEqual([]);
    expect(await next.upload(line, Buffer.alloc(4096))).toMatchObject({ status: 200, body: { state: 'ready' } });
    expect((await next.api('DELETE', `/images/${line}`)).status).toBe(204);
  } finally {
    await next.stop();
  }
}, 60_000);
