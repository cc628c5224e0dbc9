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
