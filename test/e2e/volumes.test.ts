import { SimulatedCloud } from '../model/simulated-cloud';
import type { Answer } from '../support/api-client';
import { eventually } from '../support/eventually';

const minutes = 60_000;
const gib = 2 ** 30;

describe('volumes of tenants', () => {
  let cloud: SimulatedCloud;

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('volumes', {
      hosts: 2,
      keepAlive: true,
      computeEnv: { VC_STACK_MODULES__STORAGE__SIMULATED_BYTES: String(10 * gib) },
    });
    await cloud.api.ok('POST', '/projects', { name: 'other' });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const create = (name: string, bytes = gib, more: { instance?: string; pool?: string; protected?: boolean } = {}) =>
    cloud.api.call('POST', '/volumes?project=default', { name, bytes, ...more });
  const make = async (name: string, bytes = gib, more: { instance?: string } = {}): Promise<string> => {
    const { status, body } = await create(name, bytes, more);
    expect(status).toBe(202);
    expect(body.volume).toMatchObject({ name, state: 'creating', role: 'data', bytes, instanceId: null });
    expect(await cloud.settled(body.taskId)).toMatchObject({ state: 'succeeded' });
    return body.volume.id;
  };
  const remove = async (id: string): Promise<void> => {
    const { taskId } = await cloud.api.ok('DELETE', `/volumes/${id}`);
    expect(await cloud.settled(taskId)).toMatchObject({ state: 'succeeded' });
  };
  const refused = async (answer: Promise<Answer<unknown>>): Promise<unknown> => {
    const { status, body } = await answer;
    return [status, (body as { code?: string }).code];
  };
  const instance = async (name: string, host: string): Promise<string> => {
    const made = await cloud.api.ok('POST', '/instances?project=default', cloud.body(name, { host }));
    expect((await cloud.settled(made.taskId)).state).toBe('succeeded');
    return made.instance.id;
  };

  it(
    'are made empty on a host with room, found, renamed, kept from mistakes, and deleted with their claim',
    async () => {
      const id = await make('data');
      const shown = await cloud.api.ok('GET', '/volumes/data?project=default');
      expect(shown).toMatchObject({ id, state: 'available', bytes: gib, pool: 'default', attachments: [] });
      expect(await refused(create('data'))).toEqual([409, 'name_taken']);
      expect((await cloud.api.ok('GET', '/volumes?q=dat')).items.map((v) => v.id)).toEqual([id]);
      expect((await cloud.api.ok('GET', '/volumes?role=root')).items).toEqual([]);
      const { capacity } = await cloud.api.ok('GET', `/hosts/${shown.host?.id ?? ''}`);
      expect(JSON.stringify(capacity)).toContain(String(gib));

      const renamed = await cloud.api.ok('PATCH', `/volumes/${id}`, { name: 'files', protected: true });
      expect(renamed).toMatchObject({ name: 'files', protected: true });
      expect(await refused(cloud.api.call('DELETE', `/volumes/${id}`))).toEqual([409, 'volume_protected']);
      await make('second');
      expect(await refused(cloud.api.call('PATCH', `/volumes/${id}`, { name: 'second' }))).toEqual([409, 'name_taken']);
      await remove((await cloud.api.ok('GET', '/volumes/second?project=default')).id);
      await cloud.api.ok('PATCH', `/volumes/${id}`, { protected: false });
      await remove(id);
      expect(await refused(cloud.api.call('GET', `/volumes/${id}`))).toEqual([404, 'not_found']);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    2 * minutes,
  );

  it(
    'lie beside an instance that is named; its root volume is refused by name',
    async () => {
      const web = await instance('web', 'sim1');
      const id = await make('beside', gib, { instance: 'web' });
      expect((await cloud.api.ok('GET', `/volumes/${id}`)).host?.name).toBe('sim1');
      expect(await refused(create('x', gib, { instance: 'nobody' }))).toEqual([404, 'not_found']);
      expect(
        await refused(cloud.api.call('POST', '/volumes?project=other', { name: 'x', bytes: gib, instance: web })),
      ).toEqual([404, 'not_found']);
      const { items } = await cloud.api.ok('GET', `/volumes?instance=${web}`);
      expect(items.map((v) => v.role)).toEqual(['root']);
      const root = items[0]?.id ?? '';
      for (const answer of [
        cloud.api.call('DELETE', `/volumes/${root}`),
        cloud.api.call('PATCH', `/volumes/${root}`, { name: 'mine' }),
        cloud.api.call('DELETE', '/volumes/web?project=default'),
      ])
        expect(await refused(answer)).toEqual([409, 'root_volume']);
      await cloud.settled((await cloud.api.ok('DELETE', `/instances/${web}`)).taskId);
      await remove(id);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    2 * minutes,
  );

  it(
    'are given no more room than there is, however many are asked for at once; sizes and pools that cannot be are refused',
    async () => {
      // Of ten GiB on each of two hosts, two volumes of four find room.
      const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => create(`big-${i}`, 4 * gib)));
      const taken = answers.filter(({ status }) => status === 202);
      expect(taken.length).toBe(4);
      for (const { status, body } of answers.filter((answer) => answer.status !== 202))
        expect({ status, body }).toMatchObject({
          status: 409,
          body: { code: 'no_host', detail: expect.stringContaining('volume') },
        });
      for (const { body } of taken) expect((await cloud.settled(body.taskId)).state).toBe('succeeded');
      for (const { body } of taken) await remove(body.volume.id);
      expect(await refused(create('odd', 5000))).toEqual([422, 'unacceptable']);
      expect(await refused(create('small', 0))).toEqual([422, 'unacceptable']);
      expect(await create('nowhere', gib, { pool: 'gold' })).toMatchObject({ status: 409, body: { code: 'no_host' } });
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    2 * minutes,
  );

  it(
    'are gone when they are deleted while they are made, and on a silent host once it is back',
    async () => {
      for (let round = 0; round < 5; round += 1) {
        const made = await create(`short-${round}`);
        const gone = await cloud.api.call('DELETE', `/volumes/${made.body.volume.id}`);
        expect([202, 404]).toContain(gone.status);
        expect(['cancelled', 'failed', 'succeeded']).toContain((await cloud.settled(made.body.taskId)).state);
        if (gone.status === 202) expect((await cloud.settled(gone.body.taskId)).state).toBe('succeeded');
      }
      expect(await cloud.nothingLeft()).toEqual([]);

      const id = await make('lost');
      const { host } = await cloud.api.ok('GET', `/volumes/${id}`);
      const silent = cloud.hosts[host?.name === 'sim0' ? 0 : 1];
      await silent?.end('SIGKILL');
      await eventually(
        'the host to be silent',
        async () => (await cloud.api.ok('GET', `/hosts/${host?.id ?? ''}`)).state === 'unknown',
        60_000,
      );
      expect(await refused(cloud.api.call('DELETE', `/hosts/${host?.id ?? ''}`))).toEqual([409, 'host_in_use']);
      await remove(id);
      expect((await cloud.leftovers()).some((line) => line.includes(id))).toBe(true);
      await silent?.start();
      await cloud.hostsReady();
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );
});
