import type { TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';

const minutes = 60_000;

type Verb = 'start' | 'stop' | 'pause' | 'suspend' | 'rebuild' | 'rescue' | 'unrescue';

/** Booting from a temporary disk, and back. `at` has a running guest called `second`, and an image `linux-2`. */
export const rescueCases = (at: () => TestCloud): void => {
  const ask = (verb: Verb, body?: object, name: 'second' | 'adrift' = 'second') =>
    at().api.call('POST', `/instances/${name}/actions/${verb}?project=default`, body);
  const act = async (verb: Verb, body?: object, name?: 'adrift'): Promise<void> => {
    const asked = await ask(verb, body, name);
    expect([verb, asked]).toEqual([verb, expect.objectContaining({ status: 202 })]);
    await at().settled((asked.body as { taskId: string }).taskId);
  };
  const write = (disk: string, word: string): string =>
    `printf ${word} | dd of=/dev/${disk} bs=512 seek=1000 conv=fsync 2>/dev/null; echo put $((40 + 2))`;
  const read = (disk: string): string =>
    `echo $(dd if=/dev/${disk} bs=512 skip=1000 count=1 2>/dev/null | head -c 4 | od -An -tx1) of $((40 + 2))`;
  const lies = (volumeId: string): boolean =>
    at()
      .leftovers()
      .some((line) => line.includes(volumeId));
  const rescueDisk = async (instanceId: string) =>
    (await at().api.ok('GET', `/volumes?q=${instanceId}`)).items.find(({ role }) => role === 'rescue');

  it(
    'boots in rescue with its own disk as the second one, and from its own again with what it holds',
    async () => {
      const before = await at().instance('second');
      const own = await at().console('second');
      await own.ask(write('vda', 'mine'), /put 42/);
      own.close();
      expect(await ask('rescue', { image: 'linux-2' })).toMatchObject({
        status: 409,
        body: { code: 'instance_running', detail: 'It runs: stop it first, for it boots from another disk.' },
      });
      expect(await ask('unrescue')).toMatchObject({ status: 409, body: { code: 'instance_not_rescued' } });
      await act('stop', {});
      await at().api.ok('POST', '/images?project=default', { name: 'empty' });
      expect(await ask('rescue', { image: 'empty' })).toMatchObject({ status: 409, body: { code: 'image_not_ready' } });
      const asked = await ask('rescue', { image: 'linux-2' });
      expect(asked).toMatchObject({ status: 202, body: { instance: { state: 'rescuing' } } });
      await at().settled((asked.body as { taskId: string }).taskId);
      const { ports, metadata, sshKeys, hostname, flavor, image } = before;
      const rescued = await at().instance('second');
      expect(rescued).toMatchObject({
        ...{ ports, metadata, sshKeys, hostname, flavor, image },
        state: 'rescued',
        stateReason: '',
        rescue: { image: { name: 'linux-2' } },
      });
      const temporary = await rescueDisk(before.id);
      expect(temporary).toMatchObject({ state: 'in-use' });
      const used = async (): Promise<number | undefined> =>
        (await at().api.ok('GET', `/hosts/${before.host?.id ?? ''}`)).capacity?.diskBytesUsed;
      expect(await used()).toBe(flavor.diskBytes + (temporary?.bytes ?? 0));

      const screen = await at().console('second');
      await screen.until(/@@ ready second/);
      await screen.ask(read('vdb'), /6d 69 6e 65 of 42/);
      await screen.ask(read('vda'), /00 00 00 00 of 42/);
      await screen.ask(write('vdb', 'good'), /put 42/);
      screen.close();
      for (const verb of ['pause', 'suspend', 'rebuild'] as const)
        expect([verb, await ask(verb)]).toEqual([
          verb,
          expect.objectContaining({ status: 409, body: expect.objectContaining({ code: 'instance_rescued' }) }),
        ]);

      await at()
        .host(before.host?.name ?? '')
        .end('SIGKILL');
      await at()
        .host(before.host?.name ?? '')
        .start();
      await at().hostState(before.host?.name ?? '', 'ready');
      expect(await at().instance('second')).toMatchObject({ state: 'rescued', startedAt: rescued.startedAt });

      // Off and on in rescue: it stays there until somebody ends it.
      await act('stop', { force: true });
      expect(await at().instance('second')).toMatchObject({ state: 'stopped', rescue: { image: { name: 'linux-2' } } });
      expect(await ask('rescue', { image: 'linux-2' })).toMatchObject({
        status: 409,
        body: { code: 'instance_rescued', detail: 'It is in rescue already: unrescue it first.' },
      });
      await act('start');
      expect(await at().instance('second')).toMatchObject({ state: 'rescued' });

      await act('unrescue');
      expect(await at().instance('second')).toMatchObject({ state: 'stopped', rescue: null });
      expect(await used()).toBe(flavor.diskBytes);
      expect(await rescueDisk(before.id)).toBeUndefined();
      await eventually('the temporary disk gone', () => !lies(temporary?.id ?? ''));
      await act('start');
      const again = await at().console('second');
      await again.until(/@@ ready second/);
      await again.ask(read('vda'), /67 6f 6f 64 of 42/);
      await again.ask('ls /sys/block | grep -c ^vd', /\n1\s/);
      again.close();
    },
    4 * minutes,
  );

  it(
    'is deleted in rescue with both disks',
    async () => {
      const { instance, taskId } = await at().create('adrift');
      await at().settled(taskId);
      await act('stop', { force: true }, 'adrift');
      await act('rescue', { image: 'linux-2' }, 'adrift');
      const temporary = await rescueDisk(instance.id);
      await at().settled((await at().api.ok('DELETE', '/instances/adrift?project=default')).taskId);
      expect((await at().api.ok('GET', `/volumes?q=${instance.id}`)).items).toEqual([]);
      await eventually('both disks gone', () => !lies(instance.id) && !lies(temporary?.id ?? ''));
    },
    2 * minutes,
  );
};
