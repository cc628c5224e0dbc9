import { Volumes } from '../../../src/modules/storage/contract/storage.ports';
import { Images } from '../../../src/modules/image/contract/image.ports';
import { projectA, projectB } from '../../support/http';
import { type TestDatabase } from '../../support/postgres';
import { ImageFixture } from './image-fixture';
import { imageSuite } from './image-suite';

jest.setTimeout(30_000);
const suite = imageSuite();
const { name } = suite;
let db: TestDatabase;
let f: ImageFixture;
beforeAll(() => {
  ({ db, f } = suite.started());
});

describe('names and visibility', () => {
  it('keeps a display name as it is, and refuses what is too long or taken', async () => {
    const display = 'Ubuntu (24.04) – тест 🙂';
    const made = await f.create({ name: display });
    expect((await f.image(made.id)).name).toBe(display);
    expect((await f.api('GET', `/images/${encodeURIComponent(display)}?project=alpha`)).body.id).toBe(made.id);
    expect(await f.api('POST', '/images?project=alpha', { name: display })).toMatchObject({
      status: 409,
      body: { code: 'name_taken' },
    });
    const long = await f.api('POST', '/images?project=alpha', { name: 'x'.repeat(300) });
    expect([400, 422]).toContain(long.status);
    expect((await f.api('DELETE', `/images/${made.id}`)).status).toBe(204);
  });

  it('shows own and public images only', async () => {
    const own = await f.create({ name: 'mine' });
    expect((await f.api('POST', '/images?project=alpha', { name: 'p', public: true })).status).toBe(403);
    const shared = (await f.api('POST', '/images?project=beta', { name: 'shared', public: true }, 'admin')).body;
    const foreign = (await f.api('POST', '/images?project=beta', { name: 'foreign' }, 'admin')).body;
    const { body } = await f.api<{ items: { name: string }[] }>('GET', '/images');
    expect(body.items.map((i) => i.name)).toEqual(expect.arrayContaining(['mine', 'shared']));
    expect(body.items.map((i) => i.name)).not.toContain('foreign');
    expect((await f.api('GET', `/images/${foreign.id}`)).status).toBe(404);
    expect((await f.api('GET', '/images/shared')).body.id).toBe(shared.id);
    expect((await f.api('DELETE', `/images/${shared.id}`)).status).toBe(403);
    expect((await f.api('DELETE', `/images/${own.id}`, undefined, 'viewer')).status).toBe(403);
    expect((await f.upload(own.id, Buffer.alloc(4096), {}, 'viewer')).status).toBe(403);
    expect((await f.upload(foreign.id, Buffer.alloc(4096))).status).toBe(404);
    await expect(f.container.get(Images).requireReady(db.database.op, projectB.id, own.id)).rejects.toMatchObject({
      status: 404,
    });
    for (const { id } of [own, shared, foreign])
      expect((await f.api('DELETE', `/images/${id}`, undefined, 'admin')).status).toBe(204);
  });

  it('is not deleted while a volume needs it', async () => {
    const made = await f.create({ name: name() });
    await f.upload(made.id, Buffer.alloc(4096, 3));
    const volumes = f.container.get(Volumes);
    const request = {
      instanceId: crypto.randomUUID(),
      projectId: projectA.id,
      name: 'web',
      hostId: crypto.randomUUID(),
      imageId: made.id,
      bytes: 1_000_001,
    };
    const volume = await volumes.createRoot(db.database.op, request);
    expect(await volumes.createRoot(db.database.op, request)).toMatchObject({
      id: volume.id,
      bytes: 1_003_520,
      pool: 'default',
    });
    expect(await f.api('DELETE', `/images/${made.id}`)).toMatchObject({
      status: 409,
      body: { code: 'image_in_use', count: 1, users: [{ kind: 'volume', id: volume.id, name: 'web' }] },
    });
    await volumes.markInUse(db.database.op, volume.id);
    const of = async (token?: string): Promise<object[]> =>
      (await f.api<{ items: object[] }>('GET', '/volumes', undefined, token)).body.items;
    expect(await of('admin')).toEqual([
      expect.objectContaining({
        id: volume.id,
        state: 'in-use',
        role: 'root',
        host: { id: request.hostId, name: expect.stringMatching(/^host-/) },
      }),
    ]);
    expect(await of()).toEqual([expect.objectContaining({ id: volume.id, host: null })]);
    await volumes.remove(db.database.op, request.instanceId);
    expect((await f.api('DELETE', `/images/${made.id}`)).status).toBe(204);
  });
});
