import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { Database } from '../../../src/core/db/database';
import { PermanentError } from '../../../src/core/workflow/definition/workflow-error';
import { WorkflowProbe, type ProbeBoundary } from '../../../src/core/workflow/run/workflow-probe';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { children, hollow } from './image-children';
import { ImageFixture, type Answer } from './image-fixture';

class FailingPublish extends WorkflowProbe {
  override async at({ step, point }: ProbeBoundary): Promise<void> {
    await Promise.resolve();
    if (step === 'publish' && point === 'after-effect') throw new PermanentError('told_to', 'told to fail');
  }
}

/** Ends the connections whose statement, like this, waits for a lock. True when there was one. */
const cutWaiting = async (database: Database, statement: string): Promise<boolean> =>
  (
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
      [statement],
    )
  ).length > 0;

describe('an import whose last step fails', () => {
  it('gives its bytes back', async () => {
    const server = createServer((_req, res) => void res.writeHead(200).end(Buffer.alloc(51_200, 11)));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    const f = await ImageFixture.start(db.database, { image: { allowPrivateUrls: true }, probe: new FailingPublish() });
    try {
      const made = await f.create({
        name: 'broken',
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      });
      await waitFor('the import to fail', async () => (await f.image(made.id)).state === 'error');
      await waitFor('the bytes to go', () => f.files().length === 0);
    } finally {
      await f.stop();
      await db.close();
      server.close();
    }
  }, 60_000);
});

describe('an import under which the database connection is cut', () => {
  it('begins anew and ends well', async () => {
    let downloads = 0;
    let answer = (): void => undefined;
    const allowed = new Promise<void>((resolve) => (answer = resolve));
    const server = createServer((_req, res) => {
      downloads += 1;
      void allowed.then(() => res.writeHead(200).end(Buffer.alloc(51_200, 12)));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    const f = await ImageFixture.start(db.database, { image: { allowPrivateUrls: true } });
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const made = await db.database.tx(async (op) => {
        const created = await f.create({ name: 'cut', url });
        await waitFor('the download', () => downloads > 0);
        // Held until the import waits for it with what it has fetched.
        await op.query('SELECT 1 FROM image WHERE id = $1 FOR UPDATE', [created.id]);
        answer();
        await waitFor('its statement to be cut', async () => {
          return cutWaiting(db.database, 'UPDATE "image" SET%"sha256"%');
        });
        return created;
      });
      await waitFor('the image to be ready', async () => (await f.image(made.id)).state === 'ready', 30_000);
      expect(downloads).toBeGreaterThan(1);
    } finally {
      await f.stop();
      await db.close();
      server.close();
    }
  }, 60_000);
});

describe('an upload whose last statement loses the database', () => {
  it('is refused for now, and the image takes the bytes again', async () => {
    const db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    const f = await ImageFixture.start(db.database);
    const bytes = Buffer.alloc(51_200, 13);
    try {
      const { id } = await f.create({ name: 'again', format: 'raw' });
      const body = new PassThrough();
      body.write(bytes.subarray(0, 10));
      const sent = f.upload(id, body);
      await waitFor('the upload to begin', async () => (await f.image(id)).state === 'uploading');
      await db.database.tx(async (op) => {
        await op.query('SELECT 1 FROM image WHERE id = $1 FOR UPDATE', [id]);
        body.end(bytes.subarray(10));
        await waitFor('its statement to be cut', () => cutWaiting(db.database, 'SELECT%FROM "image"%FOR UPDATE'));
      });
      expect(await sent).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
      expect(await f.image(id)).toMatchObject({ state: 'queued', sha256: null });
      expect(await f.upload(id, bytes)).toMatchObject({ status: 200, body: { state: 'ready' } });
      expect(f.files()).toHaveLength(1);
    } finally {
      await f.stop();
      await db.close();
    }
  }, 60_000);
});

describe('an upload that is not to be', () => {
  let db: TestDatabase;
  let f: ImageFixture;
  beforeAll(async () => {
    db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    f = await ImageFixture.start(db.database, {
      image: { minBytesPerSecond: 1000, paceSeconds: 5, uploadsPerProject: 2 },
    });
  }, 60_000);
  afterAll(async () => {
    await f.stop();
    await db.close();
  });

  /** Begins an upload and says no more. */
  const stalled = async (name: string): Promise<{ id: string; answer: Promise<Answer>; body: PassThrough }> => {
    const { id } = await f.create({ name });
    const body = new PassThrough();
    body.write(Buffer.alloc(5000, 1));
    const answer = f.upload(id, body);
    answer.catch(() => undefined);
    await waitFor(
      'the upload to begin',
      async () => (await f.image(id)).state === 'uploading' && f.files().some((file) => file.startsWith(id)),
    );
    return { id, answer, body };
  };
  const gone = (id: string): Promise<unknown> =>
    waitFor(
      'the image to go',
      async () =>
        (await f.api('GET', `/images/${id}`)).status === 404 && f.files().every((file) => !file.startsWith(id)),
    );

  it('goes with its image when its sender is silent, and is told so', async () => {
    const { id, answer, body } = await stalled('silent');
    expect((await f.api('DELETE', `/images/${id}`)).status).toBe(204);
    await gone(id);
    expect(await answer).toMatchObject({ status: 409, body: { code: 'image_deleted' } });
    body.destroy();
  }, 30_000);

  it('is answered 409 when its image is deleted while the bytes are hashed', async () => {
    const { id } = await f.create({ name: 'hashed' });
    const answer = f.upload(id, hollow(40));
    await waitFor(
      'the hash',
      () => children('bytes-child').length > 0 && f.files().some((file) => file.endsWith('.raw')),
      30_000,
    );
    expect((await f.api('DELETE', `/images/${id}`)).status).toBe(204);
    expect(await answer).toMatchObject({ status: 409, body: { code: 'image_deleted' } });
    await gone(id);
    expect(children('bytes-child')).toEqual([]);
  }, 60_000);

  it('waits for its bytes again when its sender was too slow', async () => {
    const { id, answer, body } = await stalled('slow');
    expect(await answer).toMatchObject({ status: 408, body: { code: 'upload_too_slow' } });
    body.destroy();
    expect(await f.image(id)).toMatchObject({
      state: 'queued',
      message: expect.stringContaining('1000 bytes per second'),
    });
    expect(await f.upload(id, Buffer.alloc(4096, 1))).toMatchObject({
      status: 200,
      body: { state: 'ready', message: '' },
    });
  }, 60_000);

  it('is refused while the project has as many under way as it may', async () => {
    const first = await stalled('first');
    const second = await stalled('second');
    const third = await f.create({ name: 'third' });
    expect(await f.upload(third.id, Buffer.alloc(4096))).toMatchObject({
      status: 429,
      body: { code: 'too_many_uploads' },
    });
    for (const { id, body, answer } of [first, second]) {
      body.destroy();
      await answer.catch(() => undefined);
      await f.api('DELETE', `/images/${id}`);
      await gone(id);
    }
    expect((await f.upload(third.id, Buffer.alloc(4096, 2))).status).toBe(200);
  }, 60_000);
});

describe('bytes and the room for them', () => {
  it('stay within what the project may store, holes not counted, by what they unfold to', async () => {
    const db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    const f = await ImageFixture.start(db.database, { image: { maxProjectBytes: 10 * 1024 ** 2 } });
    const full = { status: 413, body: { code: 'project_full' } };
    try {
      const ids: string[] = [];
      for (const name of ['a', 'b', 'c', 'd']) ids.push((await f.create({ name })).id);
      const [a = '', b = '', c = '', d = ''] = ids;
      expect((await f.upload(a, Buffer.alloc(6 * 1024 ** 2, 1))).status).toBe(200);
      expect(await f.upload(b, Buffer.alloc(6 * 1024 ** 2, 2))).toMatchObject(full);
      const packed = execFileSync(
        'sh',
        [
          '-c',
          'd=$(mktemp -d) && yes 1234567 | head -c 8388608 > $d/raw && qemu-img convert -c -f raw -O qcow2 $d/raw $d/q && cat $d/q && rm -r $d',
        ],
        { maxBuffer: 2 ** 28 },
      );
      expect(await f.upload(b, packed)).toMatchObject(full);
      expect(await f.upload(c, hollow(1))).toMatchObject({ status: 200, body: { virtualBytes: 1024 ** 3 } });
      // Stored already, and yet the project's.
      expect(await f.upload(d, Buffer.alloc(6 * 1024 ** 2, 1))).toMatchObject(full);
      expect((await f.api('DELETE', `/images/${a}`)).status).toBe(204);
      expect((await f.upload(b, Buffer.alloc(6 * 1024 ** 2, 2))).status).toBe(200);
    } finally {
      await f.stop();
      await db.close();
    }
  }, 60_000);

  it('stay off the reserve of the disk, whether they are announced, streamed or unfolded', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'vc-image-small-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'vc-image-test', dir]);
    const db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    const f = await ImageFixture.start(db.database, { stateDir: dir, image: { reserveBytes: 40 * 1024 ** 2 } });
    const free = (): number => statfsSync(dir).bavail * statfsSync(dir).bsize;
    try {
      const { id } = await f.create({ name: 'much' });
      const noRoom = { status: 507, body: { code: 'no_space' } };
      expect(await f.upload(id, Buffer.alloc(30 * 1024 ** 2, 1))).toMatchObject(noRoom);
      const endless = Readable.from(
        (async function* () {
          for (;;) {
            yield randomBytes(65_536);
            await new Promise((next) => setTimeout(next, 2));
          }
        })(),
      );
      expect(await f.upload(id, endless)).toMatchObject(noRoom);
      // A few hundred bytes of the file, named by every cluster of the disk.
      const bomb = execFileSync(
        'sh',
        [
          '-c',
          'd=$(mktemp -d) && yes 1234567 | head -c 47185920 > $d/raw && qemu-img convert -c -f raw -O qcow2 $d/raw $d/q && cat $d/q && rm -r $d',
        ],
        { maxBuffer: 2 ** 28 },
      );
      expect(bomb.length).toBeLessThan(4 * 1024 ** 2);
      let least = free();
      const watch = setInterval(() => (least = Math.min(least, free())), 10);
      expect(await f.upload(id, bomb)).toMatchObject(noRoom);
      clearInterval(watch);
      // Refused by its tables, before anything was unfolded.
      expect(least).toBeGreaterThan(50 * 1024 ** 2);
      expect(f.files()).toEqual([]);
      expect(await f.upload(id, Buffer.alloc(8 * 1024 ** 2, 1))).toMatchObject({
        status: 200,
        body: { state: 'ready' },
      });
    } finally {
      await f.stop();
      await db.close();
      execFileSync('umount', [dir]);
      rmSync(dir, { recursive: true });
    }
  }, 90_000);
});
