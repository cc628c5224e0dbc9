import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { waitFor } from '../../support/wait-for';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { DiskFiles } from './disk-files';
import { ImageFixture } from './image-fixture';

interface ImageSuite {
  readonly disks: DiskFiles;
  /** Another name each time. */
  name(): string;
  /** What the suite works on; from its `beforeAll` on. */
  started(): { db: TestDatabase; f: ImageFixture };
}

/**
 * Images with a database of their own for the file that calls it. After every test the store holds exactly what ready
 * images name, and nothing is at work.
 */
export const imageSuite = (config: Record<string, unknown> = {}): ImageSuite => {
  const disks = new DiskFiles();
  let names = 0;
  let db: TestDatabase;
  let f: ImageFixture;
  beforeAll(async () => {
    db = await startTestDatabase({ entities: [...imageEntities, ...storageEntities] });
    f = await ImageFixture.start(db.database, { image: { allowPrivateUrls: true, ...config } });
  }, 60_000);
  afterAll(async () => {
    await f?.stop();
    await db?.close();
    disks.remove();
  });
  afterEach(async () => {
    const rows = await db.database.query<{ sha256: string }>(
      `SELECT DISTINCT digest AS sha256 FROM image, unnest(ARRAY[CASE state WHEN 'ready' THEN sha256 END, kernel_sha256, initramfs_sha256]) digest
        WHERE digest IS NOT NULL`,
    );
    await waitFor(
      'the store to hold what images name',
      () => JSON.stringify(f.files().sort()) === JSON.stringify(rows.map((r) => `${r.sha256}.raw`).sort()),
    );
  });
  return { disks, name: () => `image ${++names}`, started: () => ({ db, f }) };
};
