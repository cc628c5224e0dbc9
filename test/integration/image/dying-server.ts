import { createDataSource } from '../../../src/core/db/data-source';
import { Database } from '../../../src/core/db/database';
import { imageEntities } from '../../../src/modules/image/management/image.entities';
import { ImagePublisher } from '../../../src/modules/image/management/images/image-publisher';
import { storageEntities } from '../../../src/modules/storage/management/storage.entities';
import { ImageFixture } from './image-fixture';

/**
 * A server that stands still when an upload is written and about to be named, and prints the image's id then. To be
 * killed.
 */
const main = async (): Promise<void> => {
  const [url = '', stateDir = ''] = process.argv.slice(2);
  const dataSource = createDataSource(url, { pool: 6, entities: [...imageEntities, ...storageEntities] });
  await dataSource.initialize();
  let id = '';
  ImagePublisher.prototype.publish = () => {
    process.stdout.write(`${id}\n`);
    return new Promise<never>(() => undefined);
  };
  const fixture = await ImageFixture.start(new Database(dataSource), { stateDir });
  id = (await fixture.create({ name: 'never finished' })).id;
  await fixture.upload(id, Buffer.alloc(1_048_576, 1));
};

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
