import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import WebSocket from 'ws';
import { bootsGuests, realVmm } from '../integration/compute/real-vmm';
import { guestImage, TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';
import type { TestConsole } from '../support/test-console';
import { vsockListener } from '../support/vsock-listener';

const minutes = 60_000;
const MiB = 2 ** 20;
const base = 192 * MiB;
/** Where KVM is emulated a disk is read slowly: the kernel comes with the image. */
const commandLine = 'console=ttyS0,115200 quiet loglevel=3 mitigations=off random.trust_cpu=on no_timer_check';

type Verb = 'balloon' | 'start' | 'stop' | 'reboot' | 'pause' | 'resume' | 'suspend' | 'resize';

const real = realVmm();
const listener = vsockListener();
/** At which it sends back what comes. */
const port = 77;
if (!real || !bootsGuests(real)) {
  describe('the life of an instance on a real Cloud Hypervisor', () =>
    it.skip('needs cloud-hypervisor on the PATH and a KVM that runs its guests', () => undefined));
} else {
  describe('the life of an instance on a real Cloud Hypervisor', () => {
    let cloud: TestCloud;
    let files: string;

    const fromGuest = (name: string): Buffer => {
      execFileSync('mcopy', ['-n', '-o', '-i', `${guestImage()}@@1048576`, `::/${name}`, join(files, name)]);
      return readFileSync(join(files, name));
    };
    const act = async (verb: Verb, body: object = {}): Promise<void> => {
      const asked = await cloud.api.call('POST', `/instances/app/actions/${verb}?project=default`, body);
      expect([verb, asked]).toEqual([verb, expect.objectContaining({ status: 202 })]);
      await cloud.settled((asked.body as { taskId: string }).taskId, 'succeeded', 4 * minutes);
    };
    const withConsole = async <T>(use: (screen: TestConsole) => Promise<T>): Promise<T> => {
      const screen = await cloud.console('app');
      try {
        return await use(screen);
      } finally {
        screen.close();
      }
    };
    /** Asks its shell; the answer is what the pattern's first group matches. */
    const ask = (line: string, answer: RegExp): Promise<string> =>
      withConsole(async (screen) => (await screen.ask(line, answer, 3 * minutes))[1] ?? '');
    const has = (what: string, wanted: string): Promise<string> =>
      ask(`echo "has <$(${what})>"`, new RegExp(`has <${wanted}>`));

    const echoed = async (word: string): Promise<string> => {
      const { path } = await cloud.api.ok(
        'POST',
        '/instances/app/actions/vsock?project=default' as '/instances/{ref}/actions/vsock',
        { port },
      );
      const socket = new WebSocket(`${cloud.api.url.replace('https', 'wss')}${path}`, { rejectUnauthorized: false });
      try {
        // Refused, it is closed with the reason.
        const closed = once(socket, 'close').then(([, reason]) => Promise.reject(new Error(String(reason))));
        await Promise.race([once(socket, 'open'), closed]);
        const answer = once(socket, 'message');
        socket.send(Buffer.from(word));
        return String((await Promise.race([answer, closed]))[0]);
      } finally {
        socket.close();
      }
    };

    /** Again and again, for its listener may not be there yet. */
    const echoes = async (word: string): Promise<void> => {
      let why: unknown;
      const answer = await eventually('an answer', () =>
        echoed(word).catch((error: unknown) => {
          why = error;
          return undefined;
        }),
      ).catch((error: Error) => Promise.reject(new Error(`${error.message}: ${String(why)}`)));
      expect(answer).toBe(word);
    };

    beforeAll(async () => {
      files = mkdtempSync('/tmp/vcs-ch-');
      cloud = await TestCloud.start('real', {
        computeEnv: {
          VC_STACK_MODULES__COMPUTE__DRIVERS: '[cloud-hypervisor]',
          VC_STACK_MODULES__COMPUTE__CLOUD_HYPERVISOR__BINARY: real.binary,
        },
      });
      await cloud.api.ok('POST', '/flavors', { name: 'tiny', vcpus: 1, memoryBytes: base });
      await cloud.api.ok('POST', '/flavors', { name: 'wide', vcpus: 2, memoryBytes: base + 128 * MiB });
      await cloud.api.ok('POST', '/flavors', { name: 'narrow', vcpus: 1, memoryBytes: base + 128 * MiB });
      await cloud.api.ok('POST', '/networks?project=default', { name: 'n1', subnet: '10.10.0.0/24' });
      const { id } = await cloud.api.ok('POST', '/images?project=default', { name: 'linux', kernel: { commandLine } });
      await cloud.api.ok('PUT', `/images/${id}/kernel`, fromGuest('vmlinuz'));
      await cloud.api.ok(
        'PUT',
        `/images/${id}/initramfs`,
        Buffer.concat([listener ?? Buffer.alloc(0), fromGuest('initrd.gz')]),
      );
      await cloud.api.ok('PUT', `/images/${id}/content`, Buffer.alloc(statSync(guestImage()).size));
    }, 8 * minutes);
    afterAll(async () => {
      await cloud?.close();
      if (files) rmSync(files, { recursive: true, force: true });
    }, 3 * minutes);

    it(
      'runs a guest, which gets its name and its address',
      async () => {
        const { taskId } = await cloud.create('app', {
          maxVcpus: 2,
          maxMemoryBytes: base + 256 * MiB,
          machine: { balloon: true, vsock: true },
        });
        await cloud.settled(taskId, 'succeeded', 4 * minutes);
        expect(await cloud.instance('app')).toMatchObject({ state: 'running', vmm: 'cloud-hypervisor' });
        await withConsole((screen) => screen.until(/@@ ready app/, 3 * minutes));
        const { ports } = await cloud.instance('app');
        await has('ip -4 -o addr show dev eth0 | tr -s " " | cut -d " " -f 4 | cut -d / -f 1', `${ports[0]?.address}`);
      },
      10 * minutes,
    );

    (listener ? it : it.skip)(
      'is reached at a port of its own without a network, again after a reset',
      async () => {
        await ask(`/bin/vsock-echo ${port}; echo listens $((40 + 2))`, /listens 42/);
        await echoes('one');
        await echoes('two');
        await act('reboot', { force: true });
        await ask(`/bin/vsock-echo ${port}; echo listens $((40 + 2))`, /listens 42/);
        await echoes('three');
      },
      10 * minutes,
    );

    it(
      'gives memory back by its balloon, and gets it again',
      async () => {
        await act('balloon', { memoryBytes: 128 * MiB });
        const held = () => cloud.api.ok('GET', '/instances/app/memory?project=default');
        expect(await held()).toMatchObject({ memoryBytes: base, targetBytes: 128 * MiB, heldBytes: 128 * MiB });
        await act('balloon', { memoryBytes: null });
        expect(await held()).toMatchObject({ targetBytes: null, heldBytes: base });
      },
      10 * minutes,
    );

    it(
      'gets a disk and more vCPUs and memory while it runs, and gives the disk and a vCPU back',
      async () => {
        const made = await cloud.api.ok('POST', '/volumes?project=default', {
          name: 'data',
          bytes: 48 * MiB,
          instance: 'app',
        });
        await cloud.settled(made.taskId);
        const at = '/instances/app/volumes';
        await cloud.settled((await cloud.api.ok('POST', `${at}?project=default`, { volume: 'data' })).taskId);
        const disks = 'cat /sys/block/vd?/size | tr "\\n" " "';
        await has(disks, `65536 ${(48 * MiB) / 512} `);
        await cloud.settled(
          (await cloud.api.ok('DELETE', `${at as '/instances/x/volumes'}/data?project=default`)).taskId,
        );
        await has(disks, '65536 ');
        await act('resize', { flavor: 'wide' });
        const cpus = 'for c in /sys/devices/system/cpu/cpu*/online; do echo 1 > $c; done; nproc';
        await has(cpus, '2');
        const all = Number(await ask('awk "/MemTotal/ { print \\$2 }" /proc/meminfo', /\n(\d{5,})\r?\n/));
        expect(all / 1024).toBeGreaterThan((base + 128 * MiB) / MiB - 130);
        expect(all / 1024).toBeLessThan((base + 128 * MiB) / MiB);
        await act('resize', { flavor: 'narrow' });
        await has('nproc', '1');
      },
      10 * minutes,
    );

    it(
      'stands still and goes on, and outlives its agent',
      async () => {
        const before = await cloud.instance('app');
        await ask('kept=$((40 + 2)); echo noted $kept', /noted 42/);
        await act('pause');
        expect(await cloud.instance('app')).toMatchObject({ state: 'paused' });
        await cloud.host('h1').end('SIGKILL');
        await cloud.host('h1').start();
        await cloud.hostState('h1', 'ready', 3 * minutes);
        await act('resume');
        expect(await cloud.instance('app')).toMatchObject({ state: 'running', startedAt: before.startedAt });
        await ask('echo still $kept', /still 42/);
      },
      10 * minutes,
    );

    it(
      'goes on from a suspension with what it knew',
      async () => {
        await act('suspend');
        expect(await cloud.instance('app')).toMatchObject({ state: 'suspended' });
        await act('resume');
        await ask('echo still $kept', /still 42/);
      },
      10 * minutes,
    );

    it(
      'reboots by its guest, powers off by its button, starts again, and leaves nothing',
      async () => {
        await act('reboot');
        await withConsole((screen) => screen.ask('echo "forgot <$kept>"', /forgot <>/, 3 * minutes));
        await act('stop', { graceSeconds: 120 });
        expect(await cloud.instance('app')).toMatchObject({
          state: 'stopped',
          lastExit: { reason: 'power-button' },
        });
        await act('start');
        await withConsole((screen) => screen.ask('echo up $((40 + 2))', /up 42/, 3 * minutes));
        await cloud.settled((await cloud.api.ok('DELETE', '/instances/app?project=default')).taskId);
        await cloud.settled((await cloud.api.ok('DELETE', '/volumes/data?project=default')).taskId);
        await eventually('nothing left', () => cloud.leftovers().length === 0);
      },
      10 * minutes,
    );
  });
}
