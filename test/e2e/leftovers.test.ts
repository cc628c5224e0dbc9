import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Leftover } from '../../src/modules/host/contract/leftover';
import { SimulatedCloud } from '../model/simulated-cloud';
import { eventually } from '../support/eventually';

const minutes = 60_000;

describe('leftovers of a host', () => {
  let cloud: SimulatedCloud;
  let hostId: string;

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('leftovers', {
      computeEnv: { VC_STACK_MODULES__HOST__LEFTOVERS_EVERY_SECONDS: '1' },
    });
    hostId = (await cloud.api.ok('GET', '/hosts')).items[0]?.id ?? '';
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const path = (...parts: string[]): string => join(cloud.directory, 'sim0', 'state', 'compute', ...parts);
  const volume = (id: string): string => path('pools', 'default', `${id}.name`);
  const list = async (): Promise<Leftover[]> => {
    const { leftovers, failed } = await cloud.api.ok('GET', `/hosts/${hostId}/leftovers`);
    expect(failed).toEqual([]);
    return leftovers;
  };
  const remove = async (
    leftovers: Pick<Leftover, 'kind' | 'name' | 'mark'>[],
  ): Promise<{ state: string; error?: { code: string } | null }> => {
    const confirmed = leftovers.map(({ kind, name, mark }) => ({ kind, name, mark }));
    const { taskId } = await cloud.api.ok('POST', `/hosts/${hostId}/actions/remove-leftovers`, {
      leftovers: confirmed,
    });
    return cloud.settled(taskId);
  };
  const clean = async (): Promise<{ status: string; message: string } | undefined> => {
    const { conditions } = await cloud.api.ok('GET', `/hosts/${hostId}`);
    return conditions.find(({ type }) => type === 'Clean');
  };

  it(
    'are told by its heartbeats, listed, and removed when an operator says so',
    async () => {
      expect(await list()).toEqual([]);
      const id = randomUUID();
      writeFileSync(volume(id), '4096');
      mkdirSync(path('instances', id), { recursive: true });
      writeFileSync(path('instances', id, 'seed.json'), '{}');
      await eventually('the warning', async () => (await clean())?.status === 'false', minutes);
      expect((await clean())?.message).toContain(`volume default/${id}.name`);
      const found = await list();
      expect(found).toMatchObject([
        { kind: 'instance-folder', name: id, holds: ['seed'] },
        { kind: 'volume', name: `default/${id}.name`, ownerId: id },
      ]);
      expect(await remove(found)).toMatchObject({ state: 'succeeded' });
      expect([existsSync(volume(id)), existsSync(path('instances', id))]).toEqual([false, false]);
      expect(await list()).toEqual([]);
      await eventually('the end of the warning', async () => (await clean())?.status === 'true', minutes);
      // Asked twice.
      expect(await remove(found)).toMatchObject({ state: 'succeeded' });
    },
    3 * minutes,
  );

  it(
    'are never what has a row, though its agent forgot it: neither listed nor removed',
    async () => {
      const { taskId, instance } = await cloud.api.ok('POST', '/instances?project=default', cloud.body('kept'));
      expect(await cloud.settled(taskId)).toMatchObject({ state: 'succeeded' });
      const [row] = await cloud.database.database.query<{ id: string }>('SELECT id FROM volume');
      const file = volume(row?.id ?? '');
      await cloud.hosts[0]?.end('SIGKILL');
      rmSync(path('instances', instance.id, 'instance.json'));
      await cloud.hosts[0]?.start();
      await cloud.hostsReady();
      expect(await list()).toEqual([]);
      const { dev, ino, mtimeNs } = statSync(file, { bigint: true });
      const mark = `${dev}:${ino}:${mtimeNs}`;
      const refused = await remove([{ kind: 'volume', name: `default/${row?.id}.name`, mark }]);
      expect(refused).toMatchObject({ state: 'failed', error: { code: 'leftover_claimed' } });
      expect(existsSync(file)).toBe(true);
      const { taskId: deletion } = await cloud.api.ok('DELETE', `/instances/${instance.id}?project=default`);
      expect(await cloud.settled(deletion)).toMatchObject({ state: 'succeeded' });
      expect(await list()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'are none of instances that come and go meanwhile',
    async () => {
      const wrong: Leftover[] = [];
      let over = false;
      let looks = 0;
      const looking = (async () => {
        while (!over) {
          wrong.push(...(await list()));
          looks += 1;
        }
      })();
      try {
        for (let round = 0; round < 3; round += 1) {
          const made = await Promise.all(
            [1, 2, 3, 4].map((n) =>
              cloud.api.ok('POST', '/instances?project=default', cloud.body(`come-${round}-${n}`)),
            ),
          );
          for (const { taskId } of made) expect(await cloud.settled(taskId)).toMatchObject({ state: 'succeeded' });
          const gone = await Promise.all(
            made.map(({ instance }) => cloud.api.ok('DELETE', `/instances/${instance.id}?project=default`)),
          );
          for (const { taskId } of gone) expect(await cloud.settled(taskId)).toMatchObject({ state: 'succeeded' });
        }
      } finally {
        over = true;
      }
      await looking;
      expect(wrong).toEqual([]);
      expect(looks).toBeGreaterThan(3);
      expect((await clean())?.status).toBe('true');
    },
    4 * minutes,
  );

  it(
    'cannot be listed while the host is away',
    async () => {
      cloud.hosts[0]?.signal('SIGSTOP');
      try {
        expect(await cloud.api.call('GET', `/hosts/${hostId}/leftovers`)).toMatchObject({
          status: 503,
          body: { code: 'host_unreachable' },
        });
      } finally {
        cloud.hosts[0]?.signal('SIGCONT');
      }
    },
    minutes,
  );
});
