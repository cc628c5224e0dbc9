import { Images, type UsableImage } from '../../../src/modules/image/contract/image.ports';
import type { TestDatabase } from '../../support/postgres';
import type { ImageFixture } from './image-fixture';
import { imageSuite } from './image-suite';

jest.setTimeout(30_000);
const suite = imageSuite();
const { name } = suite;
let db: TestDatabase;
let f: ImageFixture;
beforeAll(() => {
  ({ db, f } = suite.started());
});

describe('what an image says of its guests', () => {
  it('keeps vendor data for guests of the image, which its owner may change, and tells it to no event', async () => {
    const vendorData = '#cloud-config\ntimezone: Europe/Zürich\n';
    expect(await f.create({ name: name() })).toMatchObject({ vendorData: null });
    const made = await f.create({ name: name(), vendorData });
    await f.upload(made.id, Buffer.alloc(4096, 7));
    const ready = (): Promise<UsableImage> =>
      f.container.get(Images).requireReady(db.database.op, made.projectId, made.id);
    expect(await ready()).toMatchObject({ vendorData });
    expect(await f.api('PATCH', `/images/${made.id}`, { vendorData: '#!/bin/sh\n' })).toMatchObject({
      status: 200,
      body: { name: made.name, vendorData: '#!/bin/sh\n' },
    });
    expect(await ready()).toMatchObject({ vendorData: '#!/bin/sh\n' });
    expect((await f.api('PATCH', `/images/${made.id}`, { vendorData: null })).body.vendorData).toBeNull();
    expect(await ready()).toMatchObject({ vendorData: '' });
    for (const [wrong, code] of [
      ['ü'.repeat(32_769), 'too_long'],
      ['#!/bin/sh\0', 'control_characters'],
    ]) {
      expect(await f.api('PATCH', `/images/${made.id}`, { vendorData: wrong })).toMatchObject({
        status: 422,
        body: { errors: [{ path: 'body.vendorData', code }] },
      });
    }
    const told = await db.database.query<{ data: object }>(`SELECT data FROM outbox WHERE subject ->> 'id' = $1`, [
      made.id,
    ]);
    expect(told.length).toBeGreaterThan(0);
    expect(told.filter(({ data }) => 'vendorData' in data)).toEqual([]);
  });

  it('lets its owner change the VMM of an image, for those who place its instances, and nobody who only sees it', async () => {
    const made = await f.create({ name: name(), vmm: 'cloud-hypervisor' });
    await f.upload(made.id, Buffer.alloc(4096, 7));
    const placed = async () =>
      (await f.container.get(Images).requireReady(db.database.op, made.projectId, made.id)).vmm;
    for (const vmm of ['qemu', null]) {
      const changed = await f.api('PATCH', `/images/${made.id}`, { vmm });
      expect([changed.status, changed.body.vmm, await placed()]).toEqual([200, vmm, vmm]);
    }
    for (const wrong of ['No Kind', ''])
      expect(await f.api('PATCH', `/images/${made.id}`, { vmm: wrong })).toMatchObject({ status: 422 });
    expect((await f.api('PATCH', `/images/${made.id}`, { vmm: 'qemu' }, 'viewer')).status).toBe(403);
    const theirs = (await f.api('POST', '/images?project=beta', { name: name() }, 'admin')).body;
    const public_ = (await f.api('POST', '/images?project=beta', { name: name(), public: true }, 'admin')).body;
    expect((await f.api('PATCH', `/images/${theirs.id}`, { vmm: 'qemu' })).status).toBe(404);
    expect((await f.api('PATCH', `/images/${public_.id}`, { vmm: 'qemu' })).status).toBe(403);
    const own = (await f.api('POST', '/images?project=alpha', { name: name(), public: true }, 'admin')).body;
    expect((await f.api('PATCH', `/images/${own.id}`, { vmm: 'qemu', name: name() })).status).toBe(403);
    const seen = async (id: string) => (await f.api('GET', `/images/${id}`, undefined, 'admin')).body;
    for (const image of [made, theirs, public_, own])
      expect(await seen(image.id)).toMatchObject({ name: image.name, vmm: null });
    expect((await f.api('PATCH', `/images/${own.id}`, { vmm: 'qemu' }, 'admin')).body.vmm).toBe('qemu');
  });

  it('lets only an administrator change the vendor data of a public image, which guests of every project run', async () => {
    const shared = (await f.api('POST', '/images?project=alpha', { name: name(), public: true }, 'admin')).body;
    expect(await f.api('PATCH', `/images/${shared.id}`, { vendorData: '#!/bin/sh\n' })).toMatchObject({ status: 403 });
    expect(await f.api('PATCH', `/images/${shared.id}`, { vendorData: '#!/bin/sh\n' }, 'admin')).toMatchObject({
      status: 200,
      body: { vendorData: '#!/bin/sh\n' },
    });
  });
});
