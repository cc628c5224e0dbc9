import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { SimulatedCloud } from '../model/simulated-cloud';
import type { Answer, Refusal } from '../support/api-client';

const minutes = 60_000;
const rounds = 10;

/** What a host has on record of an instance, as far as it is about its size and power. */
interface OnHost {
  power: 'on' | 'off';
  handle: object | null;
  spec: { vcpus: number; memoryBytes: number };
}

/** Its task, or what is in its way. */
type Asked = Omit<Refusal, 'instance'> & { taskId: string };

describe('verbs that are asked of one instance at once', () => {
  let cloud: SimulatedCloud;

  beforeAll(async () => {
    cloud = await SimulatedCloud.start('races', { keepAlive: true });
    await cloud.api.ok('POST', '/flavors', { name: 'wide', vcpus: 2, memoryBytes: 256 * 2 ** 20 });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const read = (id: string): Promise<Instance> => cloud.api.ok('GET', `/instances/${id}`);
  const make = async (name: string): Promise<string> => {
    const made = await cloud.api.ok('POST', '/instances?project=default', cloud.body(name));
    expect((await cloud.settled(made.taskId)).state).toBe('succeeded');
    return made.instance.id;
  };
  const remove = async (id: string): Promise<void> => {
    const { taskId } = await cloud.api.ok('DELETE', `/instances/${id}`);
    expect((await cloud.settled(taskId)).state).toBe('succeeded');
  };
  const stop = (id: string): Promise<Answer<Asked>> =>
    cloud.api.call('POST', `/instances/${id}/actions/stop`, { force: true });
  const start = (id: string): Promise<Answer<Asked>> => cloud.api.call('POST', `/instances/${id}/actions/start`);
  const resize = (id: string): Promise<Answer<Asked>> =>
    cloud.api.call('POST', `/instances/${id}/actions/resize`, { flavor: 'wide' });
  const onHost = (id: string): OnHost =>
    JSON.parse(
      readFileSync(join(cloud.directory, 'sim0', 'state', 'compute', 'instances', id, 'instance.json'), 'utf8'),
    ) as OnHost;
  const used = async (): Promise<{ vcpus: number; memoryBytes: number }> => {
    const { capacity } = await cloud.api.ok('GET', '/hosts/sim0');
    return { vcpus: capacity.vcpusUsed, memoryBytes: capacity.memoryBytesUsed };
  };
  /** Each was done, or refused with what is in its way: a task, or the state that one has brought. */
  const ends = async (answers: Answer<Asked>[]): Promise<void> => {
    for (const { status, body } of answers) {
      expect([202, 409]).toContain(status);
      if (status === 202) expect(['succeeded', 'failed']).toContain((await cloud.settled(body.taskId)).state);
      else if (body.code === 'task_running')
        expect(body.task).toEqual({ id: expect.any(String), type: expect.stringMatching(/^instance\./) });
      else expect(body.code).toMatch(/^(instance_(running|stopped|starting|stopping|resizing)|resize_needs_stop)$/);
    }
  };

  it(
    'stop, start and resize of one without a maximum: each is done or refused by name, and the host agrees with us in the end',
    async () => {
      const id = await make('busy');
      for (let round = 0; round < rounds; round += 1) {
        if (round % 2 === 0 && (await read(id)).state === 'running') await ends([await stop(id)]);
        await ends(await Promise.all([stop(id), resize(id), start(id)]));
        const { state, flavor, taskId } = await read(id);
        expect(taskId).toBeNull();
        expect(['running', 'stopped']).toContain(state);
        const { power, handle, spec } = onHost(id);
        expect({ power, runs: handle !== null }).toEqual(
          state === 'running' ? { power: 'on', runs: true } : { power: 'off', runs: false },
        );
        // A host learns of a size with the next start.
        if (state === 'running')
          expect({ vcpus: spec.vcpus, memoryBytes: spec.memoryBytes }).toEqual({
            vcpus: flavor.vcpus,
            memoryBytes: flavor.memoryBytes,
          });
        expect(await used()).toEqual({ vcpus: flavor.vcpus, memoryBytes: flavor.memoryBytes });
      }
      await remove(id);
      expect(await cloud.nothingLeft()).toEqual([]);
    },
    3 * minutes,
  );

  it(
    'resize and delete: nothing of either size is counted any more',
    async () => {
      const before = await used();
      for (let round = 0; round < rounds; round += 1) {
        const id = await make(`resized-${round}`);
        await ends([await stop(id)]);
        const [resized, deleted] = await Promise.all([resize(id), cloud.api.call('DELETE', `/instances/${id}`)]);
        expect([202, 404, 409]).toContain(resized.status);
        expect(deleted.status).toBe(202);
        expect((await cloud.settled(deleted.body.taskId)).state).toBe('succeeded');
        expect(await used()).toEqual(before);
      }
    },
    3 * minutes,
  );
});
