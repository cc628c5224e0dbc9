import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadsOf } from '../../src/core/host/cpus/affinity';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { TestCloud } from '../support/cloud';
import { sh } from '../support/namespaces';

const minutes = 60_000;
const MiB = 2 ** 20;

describe('guests with dedicated CPUs, beside others', () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    // Of two CPUs the second is set aside.
    cloud = await TestCloud.start('cpus', {
      hosts: ['h1'],
      computeEnv: { VC_STACK_MODULES__HOST__DEDICATED_CPUS: '1' },
    });
    await cloud.furnish();
    const size = { vcpus: 1, memoryBytes: 192 * MiB };
    const dedicated = { cpuPolicy: 'dedicated' as const };
    await cloud.api.ok('POST', '/flavors', { name: 'own', ...size, hardware: dedicated });
    await cloud.api.ok('POST', '/flavors', { name: 'own-node', ...size, hardware: { ...dedicated, numaNodes: 1 } });
    await cloud.api.ok('POST', '/flavors', { name: 'own-two', ...size, vcpus: 2, hardware: dedicated });
    await cloud.api.ok('POST', '/flavors', {
      name: 'own-two-nodes',
      ...{ vcpus: 2, memoryBytes: 256 * MiB, hardware: { ...dedicated, numaNodes: 2 } },
    });
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const act = async (name: string, verb: 'stop' | 'start' | 'suspend' | 'resume' | 'resize', body: object = {}) => {
    const asked = await cloud.api.call('POST', `/instances/${name}/actions/${verb}?project=default`, body as never);
    if (asked.status === 202) await cloud.settled((asked.body as { taskId: string }).taskId);
    return asked;
  };
  const make = async (name: string, change: Record<string, unknown>): Promise<Instance> => {
    await cloud.settled((await cloud.create(name, { vmm: 'qemu', ...change })).taskId);
    return cloud.instance(name);
  };
  const record = ({ id }: Instance) =>
    JSON.parse(readFileSync(join(cloud.stateOf('h1'), 'instances', id, 'instance.json'), 'utf8')) as {
      cpus: { node: number; cpus: number[]; memoryBytes: number }[] | null;
      handle: { process: { pid: number } } | null;
    };
  /** On which sets of CPUs its threads are. */
  const places = async (instance: Instance): Promise<string[]> => {
    const threads = await threadsOf(record(instance).handle?.process.pid ?? 0);
    return [...new Set(threads.map(({ allowed }) => allowed.join()))];
  };
  const capacity = async () => (await cloud.api.ok('GET', '/hosts/h1')).capacity;
  const answers = async (name: string): Promise<void> => {
    const screen = await cloud.console(name);
    await screen.ask('echo answers $((40 + 2))', /answers 42/, 2 * minutes);
    screen.close();
  };

  it(
    'are on theirs and nobody else is; what is given out is counted exactly',
    async () => {
      const { inventory } = await cloud.api.ok('GET', '/hosts/h1');
      expect(inventory?.cpu.nodes).toMatchObject([{ node: 0, dedicatedCpus: [1] }]);
      expect(await capacity()).toMatchObject({ vcpus: 4, dedicatedCpus: 1, dedicatedCpusUsed: 0 });
      const [app, shared] = [await make('app', { flavor: 'own' }), await make('shared', { flavor: 'tiny' })];
      expect(app).toMatchObject({ dedicatedCpus: [1], flavor: { hardware: { cpuPolicy: 'dedicated' } } });
      expect(shared).toMatchObject({ dedicatedCpus: null });
      expect(await places(app)).toEqual(['1']);
      expect(await places(shared)).toEqual(['0']);
      expect(await capacity()).toMatchObject({ vcpusUsed: 1, dedicatedCpusUsed: 1, nodes: [{ dedicatedCpusUsed: 1 }] });
      await answers('app');
      // On which it is, is for those who may see hosts.
      const user = { name: 'tenant', password: 'a long enough password' };
      const { id } = await cloud.api.ok('POST', '/users', user);
      const { items } = await cloud.api.ok('GET', '/projects');
      await cloud.api.ok('PUT', `/projects/${items[0]?.id ?? ''}/members/${id}`, { role: 'member' });
      const admin = cloud.api.token;
      await cloud.api.login(user.name, user.password);
      const seen = await cloud.instance('app');
      cloud.api.token = admin;
      expect(seen).toMatchObject({ host: null, dedicatedCpus: null, flavor: { hardware: { cpuPolicy: 'dedicated' } } });
    },
    4 * minutes,
  );

  it(
    'are refused by name where there are none left, never were, or could grow; nothing is touched',
    async () => {
      const refused = async (flavor: string, more: object = {}) => {
        const { status, body } = await cloud.api.call('POST', '/instances?project=default', {
          name: 'more',
          image: 'linux',
          networks: [{ network: 'n1' }],
          flavor,
          vmm: 'qemu',
          ...more,
        } as never);
        const { code, hosts, errors } = body as unknown as {
          code: string;
          hosts?: { code: string }[];
          errors?: { path: string; code: string }[];
        };
        return [status, code, hosts?.[0]?.code ?? errors?.[0]?.code];
      };
      expect(await refused('own')).toEqual([409, 'no_host', 'dedicated_cpus_taken']);
      expect(await refused('own-two')).toEqual([409, 'no_host', 'dedicated_cpus']);
      expect(await refused('own-two-nodes')).toEqual([409, 'no_host', 'dedicated_cpus']);
      expect((await refused('own', { maxVcpus: 2 }))[2]).toBe('dedicated_cpus_are_fixed');
      expect((await refused('own-node', { maxMemoryBytes: 512 * MiB }))[2]).toBe('dedicated_cpus_are_fixed');
      for (const hardware of [{ numaNodes: 1 }, { cpuPolicy: 'dedicated', numaNodes: 3 }])
        expect(
          (
            await cloud.api.call('POST', '/flavors', {
              name: 'odd',
              vcpus: 2,
              memoryBytes: 192 * MiB,
              hardware,
            } as never)
          ).status,
        ).toBe(422);
      expect(await act('app', 'resize', { flavor: 'tiny' })).toMatchObject({
        status: 409,
        body: { code: 'resize_needs_stop' },
      });
      expect(await capacity()).toMatchObject({ vcpusUsed: 1, dedicatedCpusUsed: 1, instances: 2 });
    },
    2 * minutes,
  );

  it(
    'stay there when their agent is killed, and what drifted meanwhile is brought back',
    async () => {
      const [app, shared] = [await cloud.instance('app'), await cloud.instance('shared')];
      await cloud.host('h1').end('SIGKILL');
      for (const one of [app, shared]) {
        sh('taskset', '-apc', '0-1', String(record(one).handle?.process.pid));
        expect(await places(one)).toEqual(['0,1']);
      }
      await cloud.host('h1').start();
      await cloud.hostState('h1', 'ready');
      expect([await places(app), await places(shared)]).toEqual([['1'], ['0']]);
      expect(record(app).cpus).toEqual([{ node: 0, cpus: [1], memoryBytes: 0 }]);
      await answers('app');
    },
    3 * minutes,
  );

  it(
    'keep theirs while they are suspended; let go of them while they are off, and have them claimed',
    async () => {
      await act('app', 'suspend');
      const app = await cloud.instance('app');
      expect(record(app)).toMatchObject({ handle: null, cpus: [{ cpus: [1] }] });
      expect(app.dedicatedCpus).toBeNull();
      await act('app', 'resume');
      expect(await places(app)).toEqual(['1']);
      await answers('app');
      await act('app', 'stop', { force: true });
      expect(record(app)).toMatchObject({ handle: null, cpus: null });
      expect(await capacity()).toMatchObject({ dedicatedCpusUsed: 1 });
    },
    3 * minutes,
  );

  it(
    'come to share and back by another flavor, also with their memory on a NUMA node; a deletion frees all',
    async () => {
      await act('app', 'resize', { flavor: 'tiny' });
      expect(await capacity()).toMatchObject({ vcpusUsed: 2, dedicatedCpusUsed: 0 });
      await act('app', 'start');
      const app = await cloud.instance('app');
      expect([app.dedicatedCpus, await places(app)]).toEqual([null, ['0']]);
      await act('app', 'stop', { force: true });
      await act('app', 'resize', { flavor: 'own-node' });
      expect(await capacity()).toMatchObject({
        vcpusUsed: 1,
        dedicatedCpusUsed: 1,
        nodes: [{ node: 0, memoryBytesBound: 192 * MiB }],
      });
      await act('app', 'start');
      expect(record(app).cpus).toEqual([{ node: 0, cpus: [1], memoryBytes: 192 * MiB }]);
      expect(await places(app)).toEqual(['1']);
      const maps = readFileSync(`/proc/${record(app).handle?.process.pid ?? 0}/numa_maps`, 'utf8');
      expect(maps).toMatch(/ bind:0 /);
      await answers('app');
      const gone = await cloud.api.ok('DELETE', '/instances/app?project=default');
      await cloud.settled(gone.taskId);
      expect(await capacity()).toMatchObject({ vcpusUsed: 1, dedicatedCpusUsed: 0, nodes: [{ memoryBytesBound: 0 }] });
    },
    4 * minutes,
  );
});
