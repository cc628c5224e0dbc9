import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';

const minutes = 60_000;
const MiB = 2 ** 20;
const has = 256 * MiB;

describe('a real guest that gives memory back', () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    cloud = await TestCloud.start('balloon', { hosts: ['h1'] });
    await cloud.furnish();
    await cloud.api.ok('POST', '/flavors', { name: 'roomy', vcpus: 1, memoryBytes: has });
    const { taskId } = await cloud.create('app', {
      vmm: 'qemu',
      flavor: 'roomy',
      machine: { balloon: true },
      maxMemoryBytes: 2 * has,
    });
    await cloud.settled(taskId);
    const screen = await cloud.console('app');
    await screen.until(/@@ ready app/);
    screen.close();
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const act = (verb: 'reboot' | 'pause' | 'suspend' | 'resume', body: object = {}) =>
    cloud.api.ok('POST', `/instances/app/actions/${verb}?project=default`, body);
  const ask = (memoryBytes: number | null, name = 'app') =>
    cloud.api.call('POST', `/instances/${name}/actions/balloon?project=default`, { memoryBytes });
  const keeps = async (memoryBytes: number | null): Promise<void> => {
    const { status, body } = await ask(memoryBytes);
    expect([status, body]).toMatchObject([202, { instance: { state: 'running' } }]);
    await cloud.settled(body.taskId);
  };
  const memory = () => cloud.api.ok('GET', '/instances/app/memory?project=default');
  const used = async (): Promise<number> => {
    const { host } = await cloud.instance('app');
    return (await cloud.api.ok('GET', `/hosts/${host?.id ?? ''}`)).capacity.memoryBytesUsed;
  };

  it(
    'keeps what it is asked to, says what it has, and gets all again; its host claims what it may have',
    async () => {
      expect(await memory()).toMatchObject({ memoryBytes: has, targetBytes: null, heldBytes: has });
      const before = await used();
      await keeps(192 * MiB);
      expect(await memory()).toMatchObject({ memoryBytes: has, targetBytes: 192 * MiB, heldBytes: 192 * MiB });
      const says = await eventually('what its guest says', async () => {
        const { guest } = await memory();
        return guest !== null && guest.availableBytes < 192 * MiB ? guest : undefined;
      });
      expect(says.totalBytes).toBeGreaterThan(says.availableBytes);
      expect(await used()).toBe(before);
      expect(await cloud.instance('app')).toMatchObject({ state: 'running', taskId: null, machine: { balloon: true } });
      await keeps(null);
      expect(await memory()).toMatchObject({ targetBytes: null, heldBytes: has });
    },
    2 * minutes,
  );

  it(
    'is refused what leaves its guest too little, what it does not have, and where there is no balloon',
    async () => {
      for (const [bytes, code] of [
        [63 * MiB, 'below_least_memory'],
        [has + MiB, 'above_memory'],
        [has - 1, 'not_multiple_of'],
      ] as const)
        expect(await ask(bytes)).toMatchObject({ status: 422, body: { errors: [{ path: 'body.memoryBytes', code }] } });
      const plain = await cloud.create('plain', { vmm: 'qemu' });
      await cloud.settled(plain.taskId);
      const refusal = { status: 409, body: { code: 'no_balloon' } };
      expect(await ask(128 * MiB, 'plain')).toMatchObject(refusal);
      expect(await cloud.api.call('GET', '/instances/plain/memory?project=default')).toMatchObject(refusal);
      await cloud.settled((await cloud.api.ok('DELETE', '/instances/plain?project=default')).taskId);
      await cloud.settled((await act('pause')).taskId);
      expect(await ask(null)).toMatchObject({ status: 409, body: { code: 'instance_paused' } });
      await cloud.settled((await act('resume')).taskId);
    },
    2 * minutes,
  );

  it(
    'holds while its agent is killed and while it is suspended, keeps its size meanwhile, and ends with its machine',
    async () => {
      await keeps(192 * MiB);
      await cloud.host('h1').end('SIGKILL');
      await cloud.host('h1').start();
      await cloud.hostState('h1', 'ready');
      expect(await memory()).toMatchObject({ targetBytes: 192 * MiB, heldBytes: 192 * MiB });
      await cloud.api.ok('POST', '/flavors', { name: 'larger', vcpus: 1, memoryBytes: has + 128 * MiB });
      const resize = await cloud.api.ok('POST', '/instances/app/actions/resize?project=default', { flavor: 'larger' });
      expect((await cloud.settled(resize.taskId, 'failed')).error).toMatchObject({ code: 'balloon_inflated' });
      await cloud.settled((await act('suspend')).taskId);
      expect(await cloud.api.call('GET', '/instances/app/memory?project=default')).toMatchObject({ status: 409 });
      await cloud.settled((await act('resume')).taskId);
      expect(await memory()).toMatchObject({ targetBytes: 192 * MiB, heldBytes: 192 * MiB });
      await cloud.settled((await act('reboot', { force: true })).taskId);
      await eventually('its guest gives it again', async () => {
        const { targetBytes, heldBytes } = await memory();
        return targetBytes === 192 * MiB && heldBytes === 192 * MiB ? true : undefined;
      });
      await cloud.settled((await act('reboot')).taskId);
      expect(await memory()).toMatchObject({ targetBytes: null, heldBytes: has });
      const { id } = await cloud.instance('app');
      const record: unknown = JSON.parse(
        readFileSync(join(cloud.stateOf('h1'), 'instances', id, 'instance.json'), 'utf8'),
      );
      expect(record).toMatchObject({ balloonBytes: null, ballooning: false });
    },
    3 * minutes,
  );
});
