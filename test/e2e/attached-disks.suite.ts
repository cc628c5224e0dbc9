import type { TestCloud } from '../support/cloud';

const minutes = 60_000;
const bytes = 48 * 1024 * 1024;

/** Volumes that guests get and lose while they run. `at` has a running guest called `second`. */
export const attachedDiskCases = (at: () => TestCloud): void => {
  const attach = async (instance: string, volume: string): Promise<void> => {
    const asked = await at().api.ok('POST', `/instances/${instance}/volumes?project=default`, { volume });
    await at().settled(asked.taskId);
  };
  const detach = async (instance: string, volume: string): Promise<void> => {
    const asked = await at().api.ok('DELETE', `/instances/${instance}/volumes/${volume}?project=default`);
    await at().settled(asked.taskId);
  };
  /** Prints name and size in sectors of the disk with that serial number, or that there is none. */
  const find = (serial: string): string =>
    `for d in /sys/block/vd*; do [ "$(cat $d/serial)" = ${serial} ] && echo disk $(basename $d) $(cat $d/size) there; done; echo looked $((40 + 2))`;
  const until = async (instance: string, command: string, wanted: RegExp): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      const screen = await at().console(instance);
      const seen = await screen.ask(command, wanted).then(
        () => true,
        () => false,
      );
      screen.close();
      if (seen) return;
      if (attempt === 3) throw new Error(`the guest of ${instance} does not say ${wanted.source}`);
    }
  };

  it(
    'come as disks with their own serial number and size, hold what was written over a detach, and go to another guest',
    async () => {
      const made = await at().api.ok('POST', '/volumes?project=default', { name: 'data', bytes, instance: 'second' });
      await at().settled(made.taskId);
      const serial = made.volume.id.replaceAll('-', '').slice(0, 20);
      const sectors = bytes / 512;
      await attach('second', 'data');
      expect(await at().api.ok('GET', '/volumes/data?project=default')).toMatchObject({
        state: 'in-use',
        attachments: [{ position: 1, readonly: false }],
      });
      await until('second', find(serial), new RegExp(`disk vd[b-z] ${sectors} there`));
      const device = `/dev/$(basename $(dirname $(grep -l ${serial} /sys/block/vd*/serial)))`;
      await until(
        'second',
        `echo kept-by-data | dd of=${device} bs=512 seek=100 conv=sync 2>/dev/null; sync; echo written $((40 + 2))`,
        /written 42/,
      );
      await detach('second', 'data');
      await until('second', find(serial), /looked 42/);
      await until('second', `ls /sys/block | grep -c vd; echo counted $((40 + 2))`, /1\s+counted 42/);
      expect(await at().api.ok('GET', '/volumes/data?project=default')).toMatchObject({
        state: 'available',
        attachments: [],
      });

      const { host } = await at().instance('second');
      const { taskId } = await at().create('third', host ? { host: host.name } : {});
      await at().settled(taskId);
      const third = await at().console('third');
      await third.until(/@@ ready third/);
      third.close();
      await attach('third', 'data');
      const read = `dd if=${device} bs=512 skip=100 count=1 2>/dev/null | tr -d '\\0'; echo read $((40 + 2))`;
      await until('third', read, /kept-by-data\s+read 42/);
      // It is in the machine of the next start too, and an agent that was killed knows of it.
      const stop = await at().api.ok('POST', '/instances/third/actions/stop?project=default', { force: true });
      await at().settled(stop.taskId);
      const start = await at().api.ok('POST', '/instances/third/actions/start?project=default');
      await at().settled(start.taskId);
      await until('third', read, /kept-by-data\s+read 42/);
      await at()
        .host(host?.name ?? '')
        .end('SIGKILL');
      await at()
        .host(host?.name ?? '')
        .start();
      await at().hostState(host?.name ?? '', 'ready');
      await until('third', read, /kept-by-data\s+read 42/);
      await detach('third', 'data');
      await attach('third', 'data');
      const gone = await at().api.ok('DELETE', '/instances/third?project=default');
      await at().settled(gone.taskId);
      expect(await at().api.ok('GET', '/volumes/data?project=default')).toMatchObject({ state: 'available' });
      const deleted = await at().api.ok('DELETE', '/volumes/data?project=default');
      await at().settled(deleted.taskId);
      expect(
        at()
          .leftovers()
          .filter((line) => line.includes(made.volume.id)),
      ).toEqual([]);
    },
    6 * minutes,
  );
};
