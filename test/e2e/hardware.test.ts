import { writeFileSync } from 'node:fs';
import type { BodyOf } from '../../src/rest/rest-call';
import { TestCloud } from '../support/cloud';
import { freeHugePages, keepHugePages, noHugePagesHere } from '../support/huge-pages';

const minutes = 60_000;
const MiB = 2 ** 20;
/** Of the flavor that the standard guest begins with. */
const memoryBytes = 192 * MiB;
/** Pages of 2 MiB that one guest has. */
const pages = 96;

describe('what the hardware of real guests is', () => {
  let cloud: TestCloud;
  let giveBack: (() => Promise<void>) | undefined;
  /** A model that its host cannot give whole. */
  let lacking = '';

  beforeAll(async () => {
    if (noHugePagesHere === null) giveBack = await keepHugePages(pages + 4);
    cloud = await TestCloud.start('huge', { hosts: ['h1'] });
    await cloud.furnish();
    const hardware = { pageSize: '2MiB', sharedMemory: true } as const;
    await cloud.api.ok('POST', '/flavors', { name: 'huge', vcpus: 1, memoryBytes, hardware });
    const { items } = await cloud.api.ok('GET', '/hosts');
    const { inventory } = await cloud.api.ok('GET', `/hosts/${items[0]?.id ?? ''}`);
    const models = inventory?.vmms.find(({ kind }) => kind === 'qemu')?.cpuModels ?? [];
    // Which ones that are depends on the processors of this machine.
    lacking = ['EPYC-v1', 'SapphireRapids-v1'].find((model) => !models.includes(model)) ?? 'Nehalem-v99';
    for (const cpuModel of ['Nehalem', lacking])
      await cloud.api.ok('POST', '/flavors', { name: cpuModel, vcpus: 2, memoryBytes, hardware: { cpuModel } });
  }, 3 * minutes);
  afterAll(async () => {
    await cloud?.close();
    await giveBack?.();
  }, 2 * minutes);

  const act = async (
    verb: 'stop' | 'start' | 'suspend' | 'resume' | 'resize' | 'rescue' | 'unrescue',
    body: object = {},
    end?: string,
  ) => cloud.settled((await cloud.api.ok('POST', `/instances/app/actions/${verb}?project=default`, body)).taskId, end);
  const host = async () => {
    const { items } = await cloud.api.ok('GET', '/hosts');
    const capacity = items[0]?.capacity;
    return { memory: capacity?.memoryBytesUsed, huge: capacity?.hugePages };
  };
  const room = (bytesUsed: number) => [{ size: '2MiB', bytes: 2 * (pages + 4) * MiB, bytesUsed }];
  const ready = async (): Promise<void> => {
    const screen = await cloud.console('app');
    await screen.until(/@@ ready app/);
    screen.close();
  };

  it(
    'has a CPU of the model that is asked for, and no host where none can give it whole',
    async () => {
      const { taskId } = await cloud.create('app', { flavor: 'Nehalem', vmm: 'qemu' });
      await cloud.settled(taskId);
      const screen = await cloud.console('app');
      await screen.until(/@@ ready app/);
      await screen.ask('grep -c "^model name.*Nehalem" /proc/cpuinfo', /^2\r?$/m);
      screen.close();
      const reason = `the CPU model ${lacking}: qemu cannot give it whole`;
      const other = { name: 'other', flavor: lacking, image: 'linux', networks: [{ network: 'n1' }] };
      expect(await cloud.api.call('POST', '/instances?project=default', other)).toMatchObject({
        status: 409,
        body: { code: 'no_host', hosts: [{ code: 'machine', reason }] },
      });
      await act('stop');
      expect(
        await cloud.api.call('POST', '/instances/app/actions/resize?project=default', { flavor: lacking }),
      ).toMatchObject({
        status: 422,
        body: {
          errors: [{ path: 'body.flavor', code: 'host_lacks', message: expect.stringContaining(reason) as string }],
        },
      });
      await cloud.settled((await cloud.api.ok('DELETE', '/instances/app?project=default')).taskId);
    },
    3 * minutes,
  );

  const where = noHugePagesHere === null ? describe : describe.skip;
  where(`memory of huge pages${noHugePagesHere === null ? '' : ` (skipped: ${noHugePagesHere})`}`, () => {
    it('is refused a size that such pages do not make up, by the name of the field', async () => {
      for (const [part, path] of [
        [{ memoryBytes: memoryBytes + MiB, hardware: { pageSize: '2MiB' } }, 'body.memoryBytes'],
        [{ memoryBytes, hardware: { pageSize: '4KiB' } }, 'body.hardware.pageSize'],
        [{ memoryBytes, hardware: { cpuModel: 'EPYC,+svm' } }, 'body.hardware.cpuModel'],
      ] as const) {
        const { status, body: problem } = await cloud.api.call('POST', '/flavors', {
          ...({ name: 'bad', vcpus: 1, ...part } as BodyOf<'post', '/flavors'>),
        });
        expect([status, problem]).toMatchObject([422, { errors: [{ path }] }]);
      }
    });

    it(
      'takes them from those that its host keeps, and nothing of the other memory; the next one finds none',
      async () => {
        const free = freeHugePages();
        const { taskId, instance } = await cloud.create('app', { flavor: 'huge', vmm: 'qemu' });
        await cloud.settled(taskId);
        expect(instance.flavor.hardware).toEqual({
          pageSize: '2MiB',
          sharedMemory: true,
          cpuModel: null,
          cpuPolicy: 'shared',
          numaNodes: null,
        });
        await ready();
        expect(freeHugePages()).toBe(free - pages);
        expect(await host()).toEqual({ memory: 0, huge: room(memoryBytes) });
        const second = { flavor: 'huge', image: 'linux', networks: [{ network: 'n1' }] };
        const create = (more: object) =>
          cloud.api.call('POST', '/instances?project=default', { name: 'second', ...second, ...more });
        expect(await create({})).toMatchObject({
          status: 409,
          body: {
            code: 'no_host',
            hosts: [{ code: 'huge_pages', reason: 'needs 96 of huge pages of 2MiB, has 4 free' }],
          },
        });
        expect(await create({ maxMemoryBytes: 2 * memoryBytes })).toMatchObject({
          status: 422,
          body: { errors: [{ path: 'body.maxMemoryBytes', code: 'huge_pages_fixed' }] },
        });
      },
      3 * minutes,
    );

    it(
      'gives them back while it is suspended, and has them when it goes on',
      async () => {
        const free = freeHugePages();
        await act('suspend');
        expect(freeHugePages()).toBe(free + pages);
        // They are its own all the same.
        expect(await host()).toEqual({ memory: 0, huge: room(memoryBytes) });
        await act('resume');
        expect(freeHugePages()).toBe(free);
        const screen = await cloud.console('app');
        await screen.ask('echo still $((40 + 2))', /still 42/);
        screen.close();
      },
      3 * minutes,
    );

    it(
      'changes to a flavor without and back while it is stopped, and what it claims with it',
      async () => {
        const resize = { flavor: 'tiny' };
        expect(await cloud.api.call('POST', '/instances/app/actions/resize?project=default', resize)).toMatchObject({
          status: 409,
          body: { code: 'resize_needs_stop' },
        });
        await act('stop');
        await act('resize', resize);
        expect(await host()).toEqual({ memory: memoryBytes, huge: room(0) });
        await act('start');
        expect(freeHugePages()).toBe(pages + 4);
        await act('stop');
        await act('resize', { flavor: 'huge' });
        expect(await host()).toEqual({ memory: 0, huge: room(memoryBytes) });
      },
      3 * minutes,
    );

    it(
      'says so when its host has them no more, leaves nothing, and starts once they are back, also in rescue',
      async () => {
        const kept = '/proc/sys/vm/nr_hugepages';
        writeFileSync(kept, String(pages - 1));
        const failed = await act('start', {}, 'failed');
        expect(failed.error).toMatchObject({
          code: 'no_huge_pages',
          message: expect.stringContaining('too few huge pages of 2MiB free') as string,
        });
        expect(freeHugePages()).toBe(pages - 1);
        writeFileSync(kept, String(pages + 4));
        await act('start');
        await ready();
        expect(freeHugePages()).toBe(4);
        await act('stop');
        await act('rescue', { image: 'linux' });
        expect(freeHugePages()).toBe(4);
        await act('unrescue');
        expect(freeHugePages()).toBe(pages + 4);
        expect(await host()).toEqual({ memory: 0, huge: room(memoryBytes) });
        await cloud.settled((await cloud.api.ok('DELETE', '/instances/app?project=default')).taskId);
        expect(freeHugePages()).toBe(pages + 4);
        expect(await host()).toEqual({ memory: 0, huge: room(0) });
      },
      3 * minutes,
    );
  });
});
