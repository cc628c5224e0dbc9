import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
          const cut = await db.database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE "image" SET%"phase"%'`);
          return cut.length > 0;
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
