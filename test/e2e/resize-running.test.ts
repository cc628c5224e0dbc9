import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestCloud } from '../support/cloud';

const minutes = 60_000;
const MiB = 2 ** 20;
/** Of the flavor that the standard guest begins with. */
const base = 192 * MiB;

describe('a real guest that gets more, and less, while it runs', () => {
  let cloud: TestCloud;

  beforeAll(async () => {
    cloud = await TestCloud.start('grow', { hosts: ['h1'] });
    await cloud.furnish();
    for (const [name, vcpus, memoryBytes] of [
      ['wide', 3, base + 256 * MiB],
      ['middle', 3, base + 128 * MiB],
      ['beyond', 5, base],
      ['odd', 1, base + 64 * MiB],
    ] as const)
      await cloud.api.ok('POST', '/flavors', { name, vcpus, memoryBytes });
    await cloud.settled(
      (await cloud.create('app', { vmm: 'qemu', maxVcpus: 4, maxMemoryBytes: base + 512 * MiB })).taskId,
    );
  }, 3 * minutes);
  afterAll(() => cloud?.close(), 2 * minutes);

  const act = (verb: 'stop' | 'start' | 'reboot' | 'suspend' | 'resume', body: object = {}) =>
    cloud.api.ok('POST', `/instances/app/actions/${verb}?project=default`, body);
  const resize = (flavor: string) =>
    cloud.api.call('POST', '/instances/app/actions/resize?project=default', { flavor });
  const resized = async (flavor: string): Promise<void> => {
    const { status, body } = await resize(flavor);
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({ instance: expect.objectContaining({ state: 'resizing' }) }),
    ]);
    await cloud.settled(body.taskId);
  };
  /** What its guest has: vCPUs that it uses, and memory beside what its kernel takes for itself, some 100 MiB. */
  const guestHas = async (vcpus: number, memoryBytes: number): Promise<void> => {
    const mostMiB = memoryBytes / MiB;
    const leastMiB = mostMiB - 130;
    const screen = await cloud.console('app');
    await screen.ask(
      'for c in /sys/devices/system/cpu/cpu*/online; do echo 1 > $c; done; echo has $(nproc) cpus',
      new RegExp(`has ${vcpus} cpus`),
    );
    const within = `awk '/MemTotal/ { m = $2 / 1024; print (m >= ${leastMiB} && m < ${mostMiB}) ? "as" "-wanted" : "other " m }' /proc/meminfo`;
    await screen.ask(within, /as-wanted/);
    screen.close();
  };
  const used = async (): Promise<object> => {
    const { host } = await cloud.instance('app');
    const { vcpusUsed, memoryBytesUsed } = (await cloud.api.ok('GET', `/hosts/${host?.id ?? ''}`)).capacity;
    return { vcpusUsed, memoryBytesUsed };
  };
  const record = async (): Promise<unknown> => {
    const { id } = await cloud.instance('app');
    return JSON.parse(readFileSync(join(cloud.stateOf('h1'), 'instances', id, 'instance.json'), 'utf8'));
  };

  it(
    'finds more vCPUs and memory at once, and less memory afterwards; its host claims what it has',
    async () => {
      const screen = await cloud.console('app');
      await screen.until(/@@ ready app/);
      await screen.ask('kept=$((40 + 2)); echo noted $kept', /noted 42/);
      screen.close();
      const { startedAt } = await cloud.instance('app');
      await guestHas(1, base);
      expect(await used()).toEqual({ vcpusUsed: 1, memoryBytesUsed: base });
      await resized('wide');
      expect(await cloud.instance('app')).toMatchObject({
        state: 'running',
        startedAt,
        flavor: { name: 'wide', vcpus: 3, memoryBytes: base + 256 * MiB },
        maxVcpus: 4,
        maxMemoryBytes: base + 512 * MiB,
      });
      await guestHas(3, base + 256 * MiB);
      expect(await used()).toEqual({ vcpusUsed: 3, memoryBytesUsed: base + 256 * MiB });
      await resized('middle');
      await guestHas(3, base + 128 * MiB);
      expect(await used()).toEqual({ vcpusUsed: 3, memoryBytesUsed: base + 128 * MiB });
      expect(await record()).toMatchObject({ resizing: false, spec: { vcpus: 3, memoryBytes: base + 128 * MiB } });
    },
    3 * minutes,
  );

  it(
    'refuses what cannot be done while it runs, and says why; nothing is touched',
    async () => {
      const before = await cloud.instance('app');
      for (const [flavor, why] of [
        ['beyond', 'may get 4 vCPUs at most'],
        ['odd', 'by 128 MiB'],
      ] as const)
        expect(await resize(flavor)).toMatchObject({
          status: 409,
          body: { code: 'resize_needs_stop', detail: expect.stringContaining(why) },
        });
      expect(await cloud.instance('app')).toEqual(before);
      // Whether vCPUs can go is for its machine to say.
      const { taskId } = (await resize('tiny')).body;
      const task = await cloud.settled(taskId, 'failed');
      expect(task.error).toMatchObject({
        code: 'resize_needs_stop',
        message: expect.stringContaining('QEMU takes vCPUs back at the next start only'),
      });
      expect(await cloud.instance('app')).toMatchObject({ state: 'running', flavor: before.flavor, taskId: null });
      expect(await used()).toEqual({ vcpusUsed: 3, memoryBytesUsed: base + 128 * MiB });
      await guestHas(3, base + 128 * MiB);
    },
    3 * minutes,
  );

  it(
    'keeps its size while its agent is killed, while it is suspended, and when its guest reboots itself',
    async () => {
      await cloud.host('h1').end('SIGKILL');
      await cloud.host('h1').start();
      await cloud.hostState('h1', 'ready');
      await cloud.settled((await act('suspend')).taskId);
      await cloud.settled((await act('resume')).taskId);
      await guestHas(3, base + 128 * MiB);
      const screen = await cloud.console('app');
      await screen.ask('echo kept $kept', /kept 42/);
      const ready = [...screen.text.matchAll(/@@ ready app/g)].length;
      screen.type('\nreboot -f\n');
      await screen.until(new RegExp(`(@@ ready app[^]*){${ready + 1}}`));
      screen.close();
      await guestHas(3, base + 128 * MiB);
      // And can still grow.
      await resized('wide');
      await guestHas(3, base + 256 * MiB);
    },
    3 * minutes,
  );

  it(
    'has the size from the start of its next machine, and may have fewer vCPUs from then on',
    async () => {
      await cloud.settled((await act('reboot')).taskId);
      const screen = await cloud.console('app');
      await screen.until(/@@ ready app/);
      screen.close();
      await guestHas(3, base + 256 * MiB);
      await cloud.settled((await act('stop', { force: true })).taskId);
      await resized('tiny');
      await cloud.settled((await act('start')).taskId);
      const again = await cloud.console('app');
      await again.until(/@@ ready app/);
      again.close();
      await guestHas(1, base);
      expect(await used()).toEqual({ vcpusUsed: 1, memoryBytesUsed: base });
    },
    3 * minutes,
  );
});
