import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Database } from '../../../src/core/db/database';
import { PermanentError } from '../../../src/core/workflow/workflow-error';
import { WorkflowProbe, type ProbeBoundary } from '../../../src/core/workflow/workflow-probe';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { startTestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { ImageFixture } from './image-fixture';

class FailingPublish extends WorkflowProbe {
  override async at({ step, point }: ProbeBoundary): Promise<void> {
    await Promise.resolve();
    if (step === 'publish' && point === 'after-effect') throw new PermanentError('told_to', 'told to fail');
  }
}

/** Ends the connections whose statement, like this, waits for a lock. True when there was one. */
const cutWaiting = async (database: Database, statement: string): Promise<boolean> =>
  (await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`, [statement])).length > 0;

describe('an import whose last step fails', () => {
  it('gives its bytes back', async () => {
    const server = createServer((_req, res) => void res.writeHead(200).end(Buffer.alloc(50_000, 11)));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    const f = await ImageFixture.start(db.database, { image: { allowPrivateUrls: true }, probe: new FailingPublish() });
    try {
      const made = await f.create({ name: 'broken', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
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
      void allowed.then(() => res.writeHead(200).end(Buffer.alloc(50_000, 12)));
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
          return cutWaiting(db.database, 'UPDATE "image" SET%"phase"%');
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
    const bytes = Buffer.alloc(50_000, 13);
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
