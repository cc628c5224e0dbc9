import type { Instance } from '../../src/modules/compute/contract/compute.api';
import type { Answer } from '../support/api-client';
import { SimulatedCloud, type CreateInstance } from '../model/simulated-cloud';

const minutes = 60_000;

interface Accepted {
  instances: Instance[];
  taskId: string;
}

describe('several instances at once', () => {
  let cloud: SimulatedCloud;
  const create = (name: string, count: number, more: Partial<CreateInstance> = {}): Promise<Accepted> =>
    cloud.api.ok('POST', '/instances/batch?project=default', { ...cloud.body(name), count, ...more });
  const refused = async (body: Record<string, unknown>): Promise<unknown> => {
    const { status, body: problem } = await cloud.api.unchecked('POST', '/instances/batch?project=default', body);
    const [error] = problem.errors ?? [];
    return { status, code: error?.code ?? problem.code, ...(error && { path: error.path }) };
  };
  const instances = async (): Promise<Instance[]> =>
    (await cloud.api.ok('GET', '/instances?sort=name&limit=500')).items;
  const removeAll = async (): Promise<void> => {
    const tasks = await Promise.all(
      (await instances()).map(async ({ id }) => (await cloud.api.ok('DELETE', `/instances/${id}`)).taskId),
    );
    for (const task of tasks) await cloud.settled(task);
  };

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('several', {
      keepAlive: true,
      managementEnv: { VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64' },
    });
  }, 3 * minutes);
  afterEach(async () => {
    await removeAll();
    expect(await cloud.nothingLeft()).toEqual([]);
  }, minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  it(
    'run when their one task has succeeded, each made by a part of it',
    async () => {
      const accepted = await create('web', 3);
      expect(accepted.instances.map(({ name, state, taskId }) => ({ name, state, taskId }))).toEqual(
        ['web-1', 'web-2', 'web-3'].map((name) => ({ name, state: 'building', taskId: accepted.taskId })),
      );
      expect(await cloud.settled(accepted.taskId)).toMatchObject({
        state: 'succeeded',
        progress: 100,
        subject: { kind: 'instance', name: 'web-1 to web-3' },
      });
      expect((await instances()).map(({ name, state, taskId }) => ({ name, state, taskId }))).toEqual(
        ['web-1', 'web-2', 'web-3'].map((name) => ({ name, state: 'running', taskId: null })),
      );
      const { items: parts } = await cloud.api.ok('GET', `/tasks?parent=${accepted.taskId}`);
      expect(
        parts
          .map(({ type, state, subject }) => ({ type, state, name: subject.name }))
          .sort((a, b) => a.name.localeCompare(b.name)),
      ).toEqual(['web-1', 'web-2', 'web-3'].map((name) => ({ type: 'instance.create', state: 'succeeded', name })));
    },
    minutes,
  );

  it(
    'never share a hostname, however alike their names are and however many are made at once',
    async () => {
      const names = ['Web!', 'web?', 'WEB', 'web', 'w\u00e8b', 'web-2', '127', 'localhost'];
      const made = await Promise.all(
        names.map((name) => cloud.api.ok('POST', '/instances?project=default', cloud.body(name))),
      );
      const hostnames = made.map(({ instance }) => instance.hostname);
      expect(new Set(hostnames).size).toBe(names.length);
      for (const hostname of hostnames) expect(hostname).toMatch(/^(web(-\d)*|instance-(127|localhost))$/);
      for (const { taskId } of made) expect(await cloud.settled(taskId)).toMatchObject({ state: 'succeeded' });
      expect((await instances()).map(({ hostname }) => hostname).sort()).toEqual([...hostnames].sort());
    },
    minutes,
  );

  it(
    'are all gone again when there is no room for the last one, and the task says so',
    async () => {
      const { items: hosts } = await cloud.api.ok('GET', '/hosts');
      const { memoryBytes, memoryBytesUsed } = hosts[0]?.capacity ?? { memoryBytes: 0, memoryBytesUsed: 0 };
      const half = 2 ** 20 * Math.floor((memoryBytes - memoryBytesUsed) / 2 ** 20 / 2 + 1);
      await cloud.api.ok('POST', '/flavors', { name: 'half', vcpus: 1, memoryBytes: half });
      const { taskId } = await create('big', 2, { flavor: 'half' });
      const task = await cloud.settled(taskId);
      expect(task).toMatchObject({ state: 'failed', children: 3, error: { code: 'instance_failed', undone: true } });
      expect(task.childTasks.map(({ type, state }) => `${type} ${state}`)).toEqual(
        expect.arrayContaining(['instance.create succeeded', 'instance.create failed', 'instance.delete succeeded']),
      );
      expect(task.error?.message).toMatch(/1 of 2 could not be made\. "big-[12]": .*memory/);
      expect(await instances()).toEqual([]);
    },
    minutes,
  );

  it(
    'are all gone when the task is cancelled, begun or not',
    async () => {
      const { taskId } = await create('never', 30);
      await cloud.api.ok('POST', `/tasks/${taskId}/actions/cancel`);
      expect(await cloud.settled(taskId)).toMatchObject({ state: 'cancelled', error: { undone: true } });
      expect(await instances()).toEqual([]);
    },
    minutes,
  );

  it(
    'do not miss the one that was deleted meanwhile',
    async () => {
      const { taskId, instances: made } = await create('some', 3);
      const deleted = await cloud.api.ok('DELETE', `/instances/${made[1]?.id ?? ''}`);
      expect((await cloud.settled(deleted.taskId)).state).toBe('succeeded');
      expect((await cloud.settled(taskId)).state).toBe('succeeded');
      expect((await instances()).map(({ name, state }) => ({ name, state }))).toEqual(
        ['some-1', 'some-3'].map((name) => ({ name, state: 'running' })),
      );
    },
    minutes,
  );

  it(
    'do not miss those that were deleted while the whole was just being begun',
    async () => {
      const { taskId, instances: made } = await create('many', 40);
      const gone = made.slice(-6);
      const deletes = await Promise.all(
        gone.map(async ({ id }) => (await cloud.api.ok('DELETE', `/instances/${id}`)).taskId),
      );
      for (const task of deletes) expect((await cloud.settled(task)).state).toBe('succeeded');
      expect(await cloud.settled(taskId)).toMatchObject({ state: 'succeeded', error: null });
      expect((await instances()).map(({ name }) => name).sort()).toEqual(
        made
          .slice(0, -6)
          .map(({ name }) => name)
          .sort(),
      );
    },
    2 * minutes,
  );

  it(
    'can be asked for without being made',
    async () => {
      const check = (body: CreateInstance & { count?: number }): Promise<Answer<object>> =>
        cloud.api.call('POST', '/instances/check?project=default', body);
      await cloud.settled((await create('taken', 1)).taskId);
      expect((await check(cloud.body('Taken 1'))).body).toEqual({ hostnames: ['taken-1-2'] });
      expect((await check({ ...cloud.body('taken 1'), count: 3 })).body).toEqual({
        hostnames: ['taken-1-1', 'taken-1-2', 'taken-1-3'],
      });
      expect(await check(cloud.body('taken-1'))).toMatchObject({ status: 409, body: { code: 'name_taken' } });
      expect(await check({ ...cloud.body('x'), flavor: 'none' })).toMatchObject({ status: 404 });
      await cloud.api.ok('POST', '/flavors', { name: 'giant', vcpus: 1, memoryBytes: 2 ** 50 });
      expect(await check({ ...cloud.body('x'), flavor: 'giant' })).toMatchObject({
        status: 409,
        body: { code: 'no_host' },
      });
      expect((await instances()).map(({ name }) => name)).toEqual(['taken-1']);
    },
    minutes,
  );

  it(
    'are refused as a whole, with the field',
    async () => {
      const { taskId } = await create('one', 1);
      expect(await refused({ ...cloud.body('one'), count: 2 })).toMatchObject({ status: 409, code: 'name_taken' });
      expect(await refused({ ...cloud.body('x'), count: 0 })).toMatchObject({ path: 'body.count' });
      expect(await refused({ ...cloud.body('x'), count: 101 })).toMatchObject({ path: 'body.count' });
      expect(await refused(cloud.body('x'))).toMatchObject({ path: 'body.count' });
      expect(await refused({ ...cloud.body('n'.repeat(62)), count: 10 })).toEqual({
        status: 422,
        code: 'too_long',
        path: 'body.name',
      });
      expect(
        await refused({ ...cloud.body('x', { networks: [{ network: 'n1', address: '10.10.0.9' }] }), count: 2 }),
      ).toEqual({ status: 422, code: 'address_for_several', path: 'body.networks.0.address' });
      expect((await cloud.settled(taskId)).state).toBe('succeeded');
      expect((await instances()).map(({ name }) => name)).toEqual(['one-1']);
    },
    minutes,
  );
});
