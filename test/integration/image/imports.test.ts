import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { ImageFixture } from './image-fixture';
import { DiskFiles } from './disk-files';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
jest.setTimeout(30_000);
let db: TestDatabase;
let f: ImageFixture;
const disks = new DiskFiles();
let names = 0;
const name = (): string => `image ${++names}`;

beforeAll(async () => {
  db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
  f = await ImageFixture.start(db.database, { image: { allowPrivateUrls: true } });
}, 60_000);

afterAll(async () => {
  await f?.stop();
  await db?.close();
  disks.remove();
});

/** After every test: the store holds exactly what ready images name, and nothing is at work. */
afterEach(async () => {
  const rows = await db.database.query<{ sha256: string }>(`SELECT DISTINCT sha256 FROM image WHERE state = 'ready'`);
  await waitFor(
    'the store to hold what images name',
    () => JSON.stringify(f.files().sort()) === JSON.stringify(rows.map((r) => `${r.sha256}.raw`).sort()),
  );
});
describe('import from a URL', () => {
  let server: Server;
  let origin: string;
  let answer: (req: IncomingMessage, res: ServerResponse) => void;
  beforeAll(async () => {
    server = createServer((req, res) => answer(req, res));
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const settled = async (id: string): Promise<Awaited<ReturnType<ImageFixture['image']>>> =>
    waitFor(
      'the import to end',
      async () => {
        const image = await f.image(id);
        return image.state === 'ready' || image.state === 'error' ? image : null;
      },
      30_000,
    );

  it('fetches, follows redirects, and shows its steps as a task', async () => {
    const { qcow2, raw } = disks.makeQcow2();
    answer = (req, res) => {
      if (req.url !== '/real') return void res.writeHead(302, { location: '/real' }).end();
      res.writeHead(200, { 'content-length': qcow2.length }).end(qcow2);
    };
    const made = await f.create({ name: name(), url: `${origin}/start`, checksum: sha256(qcow2) });
    expect(made).toMatchObject({ state: 'importing', taskId: expect.any(String) });
    expect(await settled(made.id)).toMatchObject({ state: 'ready', sha256: sha256(raw), sourceBytes: qcow2.length });
    const steps = await db.database.query<{ name: string; state: string }>(
      'SELECT name, state FROM task_step_history WHERE task_id = $1 ORDER BY seq',
      [made.taskId],
    );
    expect(steps.map((s) => s.name)).toEqual(['fetch', 'convert', 'publish']);
  });

  it('takes up a download that broke, and ends for good where that cannot help', async () => {
    let calls = 0;
    const bytes = Buffer.alloc(204_800, 9);
    answer = (_req, res) => {
      res.writeHead(200, { 'content-length': bytes.length });
      if (++calls === 1) res.write(bytes.subarray(0, 50_000), () => res.destroy());
      else res.end(bytes);
    };
    expect(await settled((await f.create({ name: name(), url: origin })).id)).toMatchObject({
      state: 'ready',
      sourceBytes: 204_800,
    });
    answer = (_req, res) => void res.writeHead(404).end();
    expect(await settled((await f.create({ name: name(), url: origin })).id)).toMatchObject({
      state: 'error',
      message: expect.stringContaining('404'),
    });
    answer = (_req, res) => void res.writeHead(302, { location: '/again' }).end();
    expect(await settled((await f.create({ name: name(), url: origin })).id)).toMatchObject({
      state: 'error',
      message: expect.stringContaining('redirects'),
    });
    answer = (_req, res) => void res.writeHead(200).end(bytes);
    expect(await settled((await f.create({ name: name(), url: origin, checksum: 'b'.repeat(64) })).id)).toMatchObject({
      state: 'error',
      message: expect.stringContaining(sha256(bytes)),
    });
  }, 60_000);

  it('is deleted while it runs', async () => {
    answer = (_req, res) => void res.writeHead(200).write('x'.repeat(1000));
    const made = await f.create({ name: name(), url: origin });
    await waitFor('the download to run', () => f.files().some((file) => file.startsWith(made.id)));
    const { status, body } = await f.api<{ taskId: string }>('DELETE', `/images/${made.id}`);
    expect({ status, taskId: body.taskId }).toEqual({ status: 202, taskId: made.taskId });
    await waitFor('the image to go', async () => (await f.api('GET', `/images/${made.id}`)).status === 404);
    expect(await db.database.query('SELECT state FROM task WHERE id = $1', [made.taskId])).toEqual([
      { state: 'cancelled' },
    ]);
  });

  it('goes on after a restart', async () => {
    const bytes = Buffer.alloc(102_400, 5);
    let hang = true;
    let calls = 0;
    answer = (_req, res) => {
      calls += 1;
      if (hang) res.writeHead(200).write('x');
      else res.writeHead(200).end(bytes);
    };
    const stateDir = mkdtempSync(join(tmpdir(), 'vc-image-'));
    const own = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    const options = { stateDir, image: { allowPrivateUrls: true } };
    try {
      const first = await ImageFixture.start(own.database, options);
      const made = await first.create({ name: name(), url: origin });
      await waitFor('the download to run', () => calls === 1);
      await first.stop();
      hang = false;
      const second = await ImageFixture.start(own.database, options);
      try {
        const image = await waitFor('the import to end', async () => {
          const now = await second.image(made.id);
          return now.state === 'importing' ? null : now;
        });
        expect(image).toMatchObject({ state: 'ready', message: '', sourceBytes: 102_400 });
        expect(second.files()).toEqual([`${image.sha256}.raw`]);
      } finally {
        await second.stop();
      }
    } finally {
      await own.close();
      rmSync(stateDir, { recursive: true, force: true });
      server.closeAllConnections();
    }
  }, 60_000);

  it('does not reach into private networks', async () => {
    const guarded = await ImageFixture.start(db.database);
    try {
      expect(await guarded.api('POST', '/images?project=alpha', { name: name(), url: `${origin}/x` })).toMatchObject({
        status: 422,
        body: { code: 'url_not_allowed' },
      });
      expect(
        await guarded.api('POST', '/images?project=alpha', { name: name(), url: 'http://169.254.169.254/latest' }),
      ).toMatchObject({ status: 422 });
    } finally {
      await guarded.stop();
    }
  });
});
