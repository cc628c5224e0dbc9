import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ImageLocalImport1764300960000 } from '../../../migrations/1764300960000-image-local-import';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { startTestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { ImageFixture } from './image-fixture';

jest.setTimeout(60_000);

it('imports that were under way when the server was upgraded go on, and those being undone end', async () => {
  const server = createServer((_req, res) => void res.writeHead(200).end(Buffer.alloc(51_200, 21)));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
  const { database } = db;
  const project = '22222222-2222-4222-8222-222222222222';
  const under = { running: crypto.randomUUID(), compensating: crypto.randomUUID() };
  try {
    // As the release before left them: a task of version 1 that waits, and its image with how far the bytes are.
    await database.query(
      `ALTER TABLE image ADD COLUMN phase text, ADD COLUMN failure_code text, ADD COLUMN deaths int`,
    );
    for (const [state, id] of Object.entries(under)) {
      const [task] = await database.query<{ id: string }>(
        `INSERT INTO task (id, type, version, project_id, subject_kind, subject_id, subject_name, state, input, step, cursor, lock_keys, lock_state, wake_at, deadline_ms, started_at, deadline,
                           undo_deadline, owner, lease_until, fence, created_by, priority, outcome, error)
         VALUES (gen_random_uuid(), 'image.import', 1, $1, 'image', $2::uuid, $3::text, $3::text, jsonb_build_object('imageId', $2::text), 'convert', 1, ARRAY['image/' || $2::text], 'held',
                 now(), 86400000, now(), now() + interval '1 day', now() + interval '1 day', 'gone', now() + interval '1 hour', 4, 'system', 1,
                 CASE WHEN $3::text = 'compensating' THEN 'failed' END, CASE WHEN $3::text = 'compensating' THEN '{"code":"not_a_disk","message":"It is no disk.","step":"convert","host":null,"hint":null}'::jsonb END)
         RETURNING id`,
        [project, id, state],
      );
      await database.query(`INSERT INTO task_lock (key, task_id) VALUES ('image/' || $1::text, $2)`, [id, task?.id]);
      await database.query(
        `INSERT INTO task_step (task_id, seq, name, phase, state, attempt) VALUES ($1, 0, 'fetch', 'run', 'succeeded', 1), ($1, 1, 'convert', 'run', 'running', 1)`,
        [task?.id],
      );
      await database.query(
        `INSERT INTO image (id, project_id, name, description, state, message, public, url, architecture, firmware, vendor_data, created_at, phase, task_id, deaths)
         VALUES ($1, $2, $3, '', 'importing', '', false, $4, 'x86_64', 'any', '', now(), 'fetched', $5, 1)`,
        [id, project, state, url, task?.id],
      );
    }
    await database.dataSource.transaction(({ queryRunner }) => {
      if (!queryRunner) throw new Error('a transaction has a runner');
      return new ImageLocalImport1764300960000().up(queryRunner);
    });
    const f = await ImageFixture.start(database, { image: { allowPrivateUrls: true } });
    try {
      const ended = (id: string, state: string) =>
        waitFor(
          `the import to be ${state}`,
          async () =>
            (await database.query('SELECT 1 FROM image WHERE id = $1 AND state = $2', [id, state])).length > 0,
        );
      await ended(under.running, 'ready');
      await ended(under.compensating, 'error');
      expect(
        await database.query('SELECT subject_name AS name, version, state FROM task ORDER BY subject_name'),
      ).toMatchObject([
        { name: 'compensating', version: 2, state: 'failed' },
        { name: 'running', version: 2, state: 'succeeded' },
      ]);
      expect(f.files()).toHaveLength(1);
    } finally {
      await f.stop();
    }
  } finally {
    await db.close();
    server.close();
  }
});
