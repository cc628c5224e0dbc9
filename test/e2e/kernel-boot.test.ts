import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { guestImage, TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';

const minutes = 60_000;
/** What the test guest's own boot loader says too, and something that only these images say. */
const line = (mark: string): string =>
  `console=ttyS0,115200 quiet loglevel=3 mitigations=off random.trust_cpu=on tsc=reliable no_timer_check noreplace-smp cryptomgr.notests i8042.noaux nokaslr lpj=4000000 mark=${mark}`;

type Verb = 'start' | 'stop' | 'reboot' | 'suspend' | 'resume' | 'rebuild' | 'rescue' | 'unrescue';

describe('images that bring a kernel, on real guests', () => {
  let cloud: TestCloud;
  let files: string;
  let blank: Buffer;

  /** A file of the partition of the test guest's disk: Debian's kernel, and our initramfs. */
  const fromGuest = (name: string): Buffer => {
    execFileSync('mcopy', ['-n', '-o', '-i', `${guestImage()}@@1048576`, `::/${name}`, join(files, name)]);
    return readFileSync(join(files, name));
  };
  /** An image whose disk has nothing on it that any firmware could boot. */
  const addImage = async (name: string, commandLine: string): Promise<string> => {
    const { id } = await cloud.api.ok('POST', '/images?project=default', { name, kernel: { commandLine } });
    await cloud.api.ok('PUT', `/images/${id}/kernel`, fromGuest('vmlinuz'));
    await cloud.api.ok('PUT', `/images/${id}/initramfs`, fromGuest('initrd.gz'));
    expect(await cloud.api.ok('PUT', `/images/${id}/content`, blank)).toMatchObject({ state: 'ready' });
    return id;
  };
  const act = async (name: string, verb: Verb, body?: object): Promise<void> => {
    const asked = await cloud.api.call('POST', `/instances/${name as 'x'}/actions/${verb}?project=default`, body);
    expect([verb, asked]).toEqual([verb, expect.objectContaining({ status: 202 })]);
    await cloud.settled((asked.body as { taskId: string }).taskId);
  };
  const booted = async (name: string, wanted: string): Promise<void> => {
    const screen = await cloud.console(name);
    const escaped = wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    await screen.ask('echo "<$(cat /proc/cmdline)>"', new RegExp(`<[^>]*${escaped}[ >]`));
    screen.close();
  };
  const bootFiles = (): string[] => cloud.leftovers().filter((one) => /\.(kernel|initramfs)$/.test(one));

  beforeAll(async () => {
    files = mkdtempSync('/tmp/vcs-kernel-');
    blank = Buffer.alloc(statSync(guestImage()).size);
    cloud = await TestCloud.start('krnl');
    await cloud.furnish();
    await addImage('direct', line('first'));
  }, 3 * minutes);

  afterAll(async () => {
    await cloud?.close();
    if (files) rmSync(files, { recursive: true, force: true });
  }, 2 * minutes);

  it(
    'boots by the kernel, with the initramfs and the command line as they were given',
    async () => {
      const { taskId } = await cloud.create('direct', { image: 'direct' });
      await cloud.settled(taskId);
      const made = await cloud.instance('direct');
      expect(made).toMatchObject({ state: 'running', vmm: 'qemu', image: { name: 'direct' } });
      const screen = await cloud.console('direct');
      await screen.until(/@@ ready direct/);
      screen.close();
      await booted('direct', line('first'));
      expect(bootFiles()).toHaveLength(2);
    },
    3 * minutes,
  );

  it('shows its VMM the two files, and lets it write to neither', async () => {
    const { id, host } = await cloud.instance('direct');
    const record = JSON.parse(
      readFileSync(join(cloud.stateOf(host?.name ?? ''), 'instances', id, 'instance.json'), 'utf8'),
    ) as { handle: { process: { pid: number } } };
    const { pid } = record.handle.process;
    const seen = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
      .split('\n')
      .filter((one) => /\.(kernel|initramfs) /.test(one));
    expect(seen).toHaveLength(2);
    for (const one of seen) expect(one.split(' ')[5]).toMatch(/^ro\b/);
    expect(existsSync(`/proc/${pid}/root${join(cloud.stateOf(host?.name ?? ''), 'images')}`)).toBe(false);
  });

  it(
    'keeps its kernel over restart, reset and suspend, whatever becomes of the image',
    async () => {
      const { host } = await cloud.instance('direct');
      await cloud.api.ok('PATCH', '/images/direct?project=default', { kernel: { commandLine: line('edited') } });
      const cache = join(cloud.stateOf(host?.name ?? ''), 'images');
      for (const file of readdirSync(cache)) rmSync(join(cache, file));
      await act('direct', 'stop', {});
      await act('direct', 'start');
      await booted('direct', line('first'));
      await act('direct', 'reboot', { force: true });
      await booted('direct', line('first'));
      const screen = await cloud.console('direct');
      await screen.ask('echo kept > /run/kept; echo done $((40 + 2))', /done 42/);
      screen.close();
      await act('direct', 'suspend');
      await act('direct', 'resume');
      const again = await cloud.console('direct');
      await again.ask('echo "<$(cat /run/kept)>"', /<kept>/);
      again.close();
      await booted('direct', line('first'));
    },
    4 * minutes,
  );

  it(
    'boots in rescue as the rescue image says, and by its own kernel again',
    async () => {
      await act('direct', 'stop', { force: true });
      await act('direct', 'rescue', { image: 'linux' });
      await booted('direct', 'initcall_blacklist=crypto_kdf108_init,init_kprobe_trace');
      await act('direct', 'unrescue');
      await eventually('the files of its own disk alone', () => bootFiles().length === 2);
      await act('direct', 'start');
      await booted('direct', line('first'));
    },
    4 * minutes,
  );

  it(
    'gets the kernel of the image that it is rebuilt from, and none where that brings none',
    async () => {
      await addImage('other', line('second'));
      await act('direct', 'stop', { force: true });
      await act('direct', 'rebuild', { image: 'other' });
      await act('direct', 'start');
      await booted('direct', line('second'));
      await eventually('the old files gone', () => bootFiles().length === 2);
      await act('direct', 'stop', { force: true });
      await act('direct', 'rebuild', { image: 'linux' });
      await act('direct', 'start');
      await booted('direct', 'initcall_blacklist=crypto_kdf108_init,init_kprobe_trace');
      await eventually('its files gone', () => bootFiles().length === 0);
      await act('direct', 'stop', { force: true });
      await act('direct', 'rescue', { image: 'other' });
      await booted('direct', line('second'));
    },
    4 * minutes,
  );

  it(
    'refuses what cannot be, by name, and leaves nothing of a kernel',
    async () => {
      const ask = (more: object) =>
        cloud.api.call('POST', '/instances?project=default', {
          name: 'refused',
          flavor: 'tiny',
          image: 'other',
          networks: [{ network: 'n1' }],
          ...more,
        });
      expect(await ask({ machine: { secureBoot: true } })).toMatchObject({
        status: 422,
        body: { code: 'secure_boot_with_kernel', errors: [{ path: 'body.machine.secureBoot' }] },
      });
      await cloud.api.ok('POST', '/flavors', { name: 'small', vcpus: 1, memoryBytes: 64 * 2 ** 20 });
      const { id } = await cloud.api.ok('POST', '/images?project=default', { name: 'large', kernel: {} });
      await cloud.api.ok('PUT', `/images/${id}/kernel`, fromGuest('vmlinuz'));
      const large = Buffer.alloc(40 * 2 ** 20);
      large.write('070701');
      await cloud.api.ok('PUT', `/images/${id}/initramfs`, large);
      await cloud.api.ok('PUT', `/images/${id}/content`, blank);
      expect(await ask({ flavor: 'small', image: 'large' })).toMatchObject({
        status: 422,
        body: { code: 'memory_too_small', errors: [{ path: 'body.flavor' }] },
      });
      const { taskId } = await cloud.api.ok('DELETE', '/instances/direct?project=default');
      await cloud.settled(taskId);
      await eventually('nothing left', () => cloud.leftovers().length === 0);
      const { items }: { items: Instance[] } = await cloud.api.ok('GET', '/instances?project=default');
      expect(items).toEqual([]);
    },
    2 * minutes,
  );
});
