import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import { profiles, type FailureKind, type VersionProfile } from '../../../src/modules/compute/node/drivers/simulated-vmm/profile';
import { pvhGuest } from './pvh-guest';
import { bootsGuests, realVmm } from './real-vmm';
import { SerialClient } from './serial-client';
import { SimulatedBinary } from './simulated-binary';
import { VmmSession, type Answer } from './vmm-session';

jest.setTimeout(30_000);

const A = 'Error from API';
const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** Whose answers are compared: the simulation of one release, or a real Cloud Hypervisor. */
interface Subject {
  name: string;
  version: VersionProfile['name'];
  open: (knobs: Partial<SimulationKnobs>, stay: boolean) => Promise<VmmSession>;
  /** Behaviour can be asked for by knobs. */
  simulated: boolean;
  /** Guests run, and answer on their console. */
  guests: boolean;
}

let subject: Subject;
let session: VmmSession;
const closing: VmmSession[] = [];
const open = async (knobs: Partial<SimulationKnobs> = {}, stay = false): Promise<VmmSession> => {
  session = await subject.open(knobs, stay);
  closing.push(session);
  return session;
};
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close();
});
const profile = (): VersionProfile => profiles[subject.version];
/** HTTP status of a kind of failure in the subject's release. */
const status = (kind: FailureKind): number => profile().statuses[kind] ?? 500;

const file = (name: string, content: string | Buffer = Buffer.alloc(MiB)): string => {
  const path = join(session.directory, name);
  writeFileSync(path, content);
  return path;
};
/** The smallest configuration that boots; its files exist. */
const basic = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  payload: { kernel: file('kernel', pvhGuest()) },
  console: { mode: 'Off' },
  disks: [{ path: file('d.raw'), id: 'd0', image_type: 'Raw' }],
  ...change,
});
const create = async (change: Record<string, unknown> = {}): Promise<void> => expect((await session.put('vm.create', basic(change))).status).toBe(204);
const run = async (change: Record<string, unknown> = {}): Promise<void> => {
  await create(change);
  expect(await session.put('vm.boot')).toMatchObject({ status: 204, text: '' });
};
const chain = (answer: Answer): string[] => JSON.parse(answer.text) as string[];
const expectError = (answer: Answer, status: number, reasons: unknown[]): void => {
  expect(chain(answer)).toEqual(reasons);
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json');
};
const expectTail = (answer: Answer, status: number, ...tail: unknown[]): void => {
  expect(chain(answer).slice(-tail.length)).toEqual(tail);
  expect(answer.status).toBe(status);
};

const actions = ['boot', 'delete', 'shutdown', 'reboot', 'pause', 'resume', 'power-button', 'nmi'];

/**
 * Cloud Hypervisor's API as clients must expect it, case by case: put to the simulation of each release inside this process, and to a real binary where there is one on the PATH and a
 * /dev/kvm (which it opens first of all). Where KVM does not run guests, that takes all cases but the guests' own.
 */
const apiCases = (one: Subject): void => {
  describe(one.name, () => {
    beforeAll(() => {
      subject = one;
    });

    describe('HTTP layer', () => {
      beforeEach(() => open());

      it('1: ping', async () => {
        const answer = await session.get('vmm.ping');
        expect(answer.status).toBe(200);
        expect(answer.headers).toMatchObject({ server: 'Cloud Hypervisor API', connection: 'keep-alive', 'content-length': String(Buffer.byteLength(answer.text)) });
        expect(JSON.parse(answer.text)).toEqual({ build_version: expect.any(String), version: expect.any(String), pid: session.pid, features: expect.any(Array) });
      });
      it('2: unknown paths, with no tolerance for queries', async () => {
        for (const path of ['/api/v1/nope', '/api/v1/vm.info?x=1', '/', '/api/v1/vm.info/', '/api/v1/constructor']) expectError(await session.ask('GET', path, null), 404, ['Not Found']);
      });
      it('3: an unknown method is refused by the HTTP library, with a raw line feed', async () => {
        const answer = await session.raw('POST /api/v1/vm.boot HTTP/1.1\r\nHost: x\r\n\r\n');
        expect(answer).toMatch(/^HTTP\/1\.1 400 \r\nServer: Firecracker API\r\n/);
        expect(answer).toContain('Content-Type: application/json');
        const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
        expect(body).toContain('Unsupported HTTP method.\n');
        expect(() => JSON.parse(body)).toThrow();
      });
      it('4, 5: wrong verbs', async () => {
        expectError(await session.get('vm.boot'), 400, ['Bad Request']);
        expectError(await session.put('vm.counters'), 400, ['Bad Request']);
        const known = (method: string): boolean => profile().methods.includes(method);
        for (const [method, endpoint] of [['PATCH', 'vm.boot'], ['DELETE', 'vm.delete']] as const) {
          const answer = await session.ask(method, `/api/v1/${endpoint}`, null);
          if (!known(method)) expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('Unsupported HTTP method.') });
          else expect(answer).toMatchObject({ status: 400, text: '', headers: { 'content-length': '0' } });
        }
        for (const [method, endpoint] of [['PATCH', 'vm.create'], ['PUT', 'vm.info'], ['PUT', 'vmm.ping'], ['GET', 'vmm.shutdown'], ['DELETE', 'vmm.ping']] as const) {
          if (known(method)) expectError(await session.ask(method, `/api/v1/${endpoint}`, null), 400, ['Bad Request']);
        }
      });
      it('6, 7: bodies where none belong, and none where they do', async () => {
        for (const action of actions) expectError(await session.put(`vm.${action}`, '{}'), 400, ['Bad Request']);
        for (const endpoint of ['vm.resize', 'vm.snapshot', 'vm.add-disk', 'vm.remove-device']) expectError(await session.put(endpoint), 400, ['Bad Request']);
        expect(await session.put('vm.create')).toMatchObject({ status: 400, text: '' });
      });
      it('8 to 10: what does not parse', async () => {
        expectError(await session.put('vm.create', '{'), 400, ['Failed to deserialize JSON', expect.any(String)]);
        expectError(await session.put('vm.resize-disk', '{}'), 400, ['Failed to deserialize JSON', expect.stringMatching(/^missing field `id` at line 1 column 2/)]);
        const answer = await session.put('vm.create', { serial: { mode: 'pty' } });
        expectError(answer, 400, ['Failed to deserialize JSON', expect.stringContaining('unknown variant `pty`, expected one of `Off`, `Pty`, `Tty`, `File`, `Socket`, `Null`')]);
        const limited = { disks: [{ path: '/d', rate_limiter_config: { bandwith: {} } }] };
        expectError(await session.put('vm.create', limited), 400, ['Failed to deserialize JSON', expect.stringContaining('unknown field `bandwith`')]);
        expect((await session.put('vm.create', { nonsense: 1, cpus: { boot_vcpus: 1, max_vcpus: 1, nonsense: 2 } })).status).toBe(204);
      });
      it('11: 204 has neither length nor type', async () => {
        const answer = await session.raw('PUT /api/v1/vm.delete HTTP/1.1\r\nHost: x\r\n\r\n');
        expect(answer).toBe('HTTP/1.1 204 \r\nServer: Cloud Hypervisor API\r\nConnection: keep-alive\r\n\r\n');
      });
      it('12: a body over the limit', async () => {
        const limit = profile().bodyLimit;
        const answer = await session.raw(`PUT /api/v1/vm.create HTTP/1.1\r\nContent-Length: ${limit + 1}\r\n\r\n`);
        expect(answer).toContain('HTTP/1.1 400 ');
        expect(answer).toContain(`Request payload with size ${limit + 1} is larger than the limit of ${limit} allowed by server.`);
      });
      it('13: a chunked body is not seen, and its bytes are no request', async () => {
        const answer = await session.raw('PUT /api/v1/vm.create HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n');
        const parts = answer.split('HTTP/1.1 ').filter((part) => part !== '');
        expect(parts).toEqual([expect.stringMatching(/^400 \r\nServer: Firecracker API[\s\S]*"Invalid request\.\n/)]);
      });
      it('14: the eleventh connection', async () => {
        const idle: Socket[] = [];
        try {
          for (let n = 0; n < 10; n++) idle.push(await new Promise<Socket>((resolve) => { const socket: Socket = connect(session.socket, () => resolve(socket)); }));
          const answer = await session.raw('');
          expect(answer).toContain('HTTP/1.1 503\r\n');
          expect(answer).toContain('Connection: close');
          expect(answer.endsWith('{ "error": "Too many open connections" }')).toBe(true);
        } finally {
          for (const socket of idle) socket.destroy();
        }
      });
      if (one.simulated) it('15: one request at a time, over all connections', async () => {
        await open({ latencyMs: { 'vm.boot': 300 } });
        await create();
        const order: string[] = [];
        const boot = session.put('vm.boot').then(() => order.push('boot'));
        await session.event('vm/booting').catch(() => undefined);
        const ping = session.get('vmm.ping').then(() => order.push('ping'));
        await Promise.all([boot, ping]);
        expect(order).toEqual(['boot', 'ping']);
      });
      it('expects 100-continue to be honoured, and HTTP/2 to be refused', async () => {
        expect(await session.raw('PUT /api/v1/vm.remove-device HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}')).toMatch(/^HTTP\/1\.1 100 [\s\S]*HTTP\/1\.1 400 /);
        expect(await session.raw('GET /api/v1/vmm.ping HTTP/2\r\n\r\n')).toContain('HTTP/1.1 400 ');
      });
    });

    describe('create, boot, info', () => {
      beforeEach(() => open());

      it('16: info of nothing', async () => expectError(await session.get('vm.info'), status('missing'), [A, 'The VM info is not available', 'VM is not created']));
      it('17: create stores defaults', async () => {
        await create();
        const info = await session.info();
        expect(info).toMatchObject({
          state: 'Created',
          memory_actual_size: 536_870_912,
          config: { cpus: { boot_vcpus: 1, max_vcpus: 1 }, rng: { src: '/dev/urandom' }, serial: { mode: 'Null' }, disks: [{ num_queues: 1, queue_size: 128 }] },
        });
        expect(info.device_tree).toBeUndefined();
        const { text } = await session.get('vm.info');
        if (profile().omitsNull) expect(text).not.toContain('null');
        else expect(text).toContain('"net":null');
      });
      it('18: create twice', async () => {
        await create();
        expectError(await session.put('vm.create', {}), 500, [A, 'The VM could not be created', 'VM is already created']);
        await session.put('vm.delete');
        await create();
      });
      it('19, 20: boot of nothing bootable, and of nothing', async () => {
        expectError(await session.put('vm.boot'), status('missing'), [A, 'The VM could not boot', 'VM config is missing']);
        expect(session.eventNames()).toContain('vm/booting');
        expect((await session.put('vm.create', {})).status).toBe(204);
        const reasons = [A, 'The VM could not boot', 'Failed to validate config', 'Payload configuration is not bootable', 'No bootitem provided: neither firmware nor kernel'];
        expectError(await session.put('vm.boot'), status('validation'), reasons);
      });
      it('21: boot', async () => {
        await run();
        const info = await session.info();
        expect(info.state).toBe('Running');
        expect(Object.keys(info.device_tree ?? {})).toEqual(expect.arrayContaining(['d0', '_virtio-pci-d0', '__rng', '__serial']));
        expectError(await session.put('vm.boot'), 500, [A, 'The VM could not boot', 'VM is already created']);
      });
      it('22: pause and resume', async () => {
        await run();
        expect((await session.put('vm.pause')).status).toBe(204);
        expect((await session.info()).state).toBe('Paused');
        expectError(await session.put('vm.pause'), 500, [A, 'The VM could not be paused', 'Cannot pause VM', 'Failed to pause migratable component', 'Invalid transition: InvalidStateTransition(Paused, Paused)']);
        expect((await session.put('vm.resume')).status).toBe(204);
        expectError(await session.put('vm.resume'), 500, [A, 'The VM could not resume', 'Cannot resume VM', 'Failed to resume migratable component', 'Invalid transition: InvalidStateTransition(Running, Running)']);
      });
      it('23, 24: verbs without a VM', async () => {
        for (const created of [false, true]) {
          if (created) await create();
          for (const verb of ['pause', 'resume', 'nmi', 'power-button', 'shutdown']) expectTail(await session.put(`vm.${verb}`), 500, 'VM is not running');
          expectTail(await session.put('vm.snapshot', { destination_url: 'file:///tmp' }), 500, 'VM is not running');
          expectTail(await session.get('vm.counters'), 500, 'VM is not running');
          expectError(await session.put('vm.reboot'), status('missing'), [A, 'The VM could not reboot', 'VM is not created']);
        }
        expect(session.eventNames()).toContain('vm/rebooting');
      });
      it('25, 26: shutdown keeps the configuration, delete does not', async () => {
        expect((await session.put('vm.delete')).status).toBe(204);
        expect(session.eventNames()).toEqual(['vmm/starting']);
        await run();
        await session.put('vm.pause');
        expect((await session.put('vm.shutdown')).status).toBe(204);
        expect(await session.info()).toMatchObject({ state: 'Created', config: { disks: [{ id: 'd0' }] } });
        expect((await session.put('vm.boot')).status).toBe(204);
        expect((await session.put('vm.delete')).status).toBe(204);
        expect(session.eventNames().slice(-2)).toEqual(['vm/shutdown', 'vm/deleted']);
        expect((await session.get('vm.info')).status).toBe(status('missing'));
      });
      it('27: vmm.shutdown ends the process', async () => {
        await run();
        const answer = await session.put('vmm.shutdown');
        expect(answer).toMatchObject({ status: 200, text: '' });
        expect(answer.headers['content-length']).toBe('0');
        expect(await session.ended).toBe(0);
        expect(session.eventNames().slice(-3)).toEqual(['vm/shutdown', 'vm/deleted', 'vmm/shutdown']);
        expect(existsSync(session.socket)).toBe(false);
      });
    });

    describe('validation', () => {
      beforeEach(() => open());
      const failsWith = async (change: Record<string, unknown>, status: number, ...tail: unknown[]): Promise<void> => {
        await create(change);
        const answer = await session.put('vm.boot');
        expect(chain(answer).slice(0, 3)).toEqual([A, 'The VM could not boot', 'Failed to validate config']);
        expectTail(answer, status, ...tail);
        await session.put('vm.delete');
      };
      const disk = (change: Record<string, unknown> = {}): Record<string, unknown> => ({ path: join(session.directory, 'd.raw'), id: 'd0', image_type: 'Raw', ...change });

      it('28: payloads', async () => {
        await failsWith({ payload: { firmware: '/f', kernel: '/k' } }, status('validation'), 'Specifying a kernel is not supported when a firmware is provided');
        await run({ payload: { firmware: file('fw', pvhGuest()), cmdline: 'console=ttyS0' } });
        expect((await session.get('vm.info')).text).not.toContain('console=ttyS0');
      });
      it('29: ids', async () => {
        await failsWith({ disks: [disk(), disk()] }, status('duplicate'), 'Identifier d0 is not unique');
        await failsWith({ net: [{ id: 'd0' }] }, status('duplicate'), 'Identifier d0 is not unique');
        await failsWith({ disks: [disk({ id: '__x' })] }, status('validation'), `Identifier __x ${profile().invalidIdentifier}`);
        await failsWith({ devices: [{ path: '/sys/x' }, { path: '/sys/x' }] }, status('duplicate'), 'Duplicated device path: /sys/x');
      });
      it('30: CPUs and queues', async () => {
        await failsWith({ disks: [disk({ num_queues: 2 })] }, status('validation'), 'Queue count (2) must not exceed boot vCPUs (1)');
        await failsWith({ cpus: { boot_vcpus: 2, max_vcpus: 1 } }, status('validation'), 'Max CPUs (1) lower than boot CPUs (2)');
        await failsWith({ cpus: { boot_vcpus: 1, max_vcpus: 1, topology: { threads_per_core: 2, cores_per_die: 1, dies_per_package: 1, packages: 1 } } }, status('validation'), 'Product of CPU topology parts does not match maximum vCPU');
        await failsWith({ disks: [disk({ serial: 'x'.repeat(21) })] }, status('validation'), 'Block device serial length (21) exceeds maximum allowed length (20)');
      });
      it('31: memory, vsock, MTU, balloon', async () => {
        await failsWith({ fs: [{ tag: 't', socket: '/s' }] }, status('validation'), 'Using vhost-user requires using shared memory or huge pages');
        await failsWith({ vsock: { cid: 2, socket: '/s' } }, status('validation'), '2 is a special VSOCK CID');
        await failsWith({ net: [{ mtu: 1000 }] }, status('validation'), 'Provided MTU 1000 is lower than 1280 (expected by VIRTIO specification)');
        await failsWith({ balloon: { size: 512 * MiB } }, status('validation'), `Balloon size (${512 * MiB}) greater than RAM (${512 * MiB})`);
        await failsWith({ memory: { size: MiB, shared: true, mergeable: true } }, status('validation'), "Invalid to set both 'mergeable' and 'shared' for memory");
        await failsWith({ platform: { num_pci_segments: 97 } }, status('validation'), 'Number of PCI segments (97) not in range of 1 to 96');
      });
    });

    describe('failed boots', () => {
      beforeEach(() => open());

      it('32: a missing disk loses the disks of the configuration', async () => {
        await create({ disks: [{ path: '/nonexistent.raw', id: 'd0', image_type: 'Raw' }] });
        const answer = await session.put('vm.boot');
        expect(chain(answer).slice(0, 4)).toEqual([A, 'The VM could not boot', 'Error from device manager', 'Cannot open disk path']);
        expectTail(answer, 500, 'No such file or directory (os error 2)');
        expect((await session.info()).config['disks'] ?? null).toBeNull();
        expect((await session.put('vm.boot')).status).toBe(204);
      });
      it('33, 34: missing kernel, firmware, initramfs', async () => {
        await create({ payload: { kernel: '/nonexistent' } });
        expectError(await session.put('vm.boot'), 500, [A, 'The VM could not boot', 'Cannot open kernel file', 'No such file or directory (os error 2)']);
        expect(await session.info()).toMatchObject({ state: 'Created', device_tree: expect.anything() });
        expectTail(await session.put('vm.boot'), 500, 'VM is already created');
        expect((await session.put('vm.shutdown')).status).toBe(204);
        await session.put('vm.delete');
        await create({ payload: { firmware: '/nonexistent' } });
        expect(chain(await session.put('vm.boot'))).toContain('Error manipulating firmware file');
        expectTail(await session.put('vm.boot'), 500, 'VM is already created');
        await session.put('vm.delete');
        await create({ payload: { kernel: file('kernel', pvhGuest()), initramfs: '/nonexistent' } });
        expect(chain(await session.put('vm.boot'))).toContain('Cannot open initramfs file');
        expect((await session.info()).device_tree ?? null).toBeNull();
      });
      it('35: locked disks', async () => {
        await run();
        const shared = join(session.directory, 'd.raw');
        const first = session;
        const second = await open();
        session = first;
        const config = { payload: { kernel: join(session.directory, 'kernel') }, console: { mode: 'Off' }, disks: [{ path: shared, id: 'd0', image_type: 'Raw' }] };
        await second.put('vm.create', config);
        const answer = await second.put('vm.boot');
        expectError(answer, 500, [A, 'The VM could not boot', 'Error locking disk images: Another instance likely holds a lock', 'Cannot lock images of all block devices', `Failed to get Write lock for disk image: ${shared}`, 'The file is already locked']);
        expectTail(await second.put('vm.boot'), 500, 'VM is already created');
        await second.put('vm.delete');
        await session.put('vm.delete');
        const readers = { ...config, disks: [{ ...config.disks[0], readonly: true }] };
        for (const one of [session, second]) {
          expect((await one.put('vm.create', readers)).status).toBe(204);
          expect((await one.put('vm.boot')).status).toBe(204);
        }
      });
      it('36: image types', async () => {
        await create({ disks: [{ path: file('d.raw'), id: 'd0', image_type: 'Qcow2' }] });
        expectError(await session.put('vm.boot'), 500, [A, 'The VM could not boot', 'Error from device manager', 'Disk image type does not match expected type: specified = qcow2, detected = raw']);
        await session.put('vm.delete');
        await run({ disks: [{ path: join(session.directory, 'd.raw'), id: 'd0' }] });
        expect((await session.info()).config).toMatchObject({ disks: [{ image_type: 'Raw' }] });
      });
    });

    describe('consoles', () => {
      beforeEach(() => open());

      it('37: no socket for the console, and create leaves its configuration', async () => {
        expectError(await session.put('vm.create', { console: { mode: 'Socket' } }), 500, [A, 'The VM could not be created', 'Error creating console devices', 'No socket option support for console device']);
        expectTail(await session.put('vm.create', {}), 500, 'VM is already created');
        expect((await session.put('vm.delete')).status).toBe(204);
        await create();
      });
      it('38: ptys are opened anew at reboot and after shutdown', async () => {
        const pty = async (): Promise<string> => ((await session.info()).config as unknown as { serial: { file: string } }).serial.file;
        await create({ serial: { mode: 'Pty' } });
        const first = await pty();
        expect(first).toMatch(/^\/dev\/pts\//);
        await session.put('vm.boot');
        expect(await pty()).toBe(first);
        await session.put('vm.reboot');
        expect(await pty()).toMatch(/^\/dev\/pts\//);
        await session.put('vm.shutdown');
        await session.put('vm.boot');
        expect(await pty()).toMatch(/^\/dev\/pts\//);
      });
      it('39: a file console without a file ends the process', async () => {
        expectError(await session.put('vm.create', { serial: { mode: 'File' } }), 500, [A, 'API response receive error', 'receiving on a closed channel']);
        expect(await session.ended).toBe(1);
      });
      it('40: a serial socket that exists', async () => {
        const answer = await session.put('vm.create', basic({ serial: { mode: 'Socket', socket: file('serial.sock') } }));
        expectError(answer, 500, [A, 'The VM could not be created', 'Error creating console devices', 'Error creating console device', 'Address already in use (os error 98)']);
        expectTail(await session.put('vm.create', {}), 500, 'VM is already created');
      });
      if (one.guests) it('a second client of the serial socket displaces the first, and a late one hears the boot since v53', async () => {
        const socket = join(session.directory, 's.sock');
        await run({ serial: { mode: 'Socket', socket } });
        const first = await SerialClient.connect(socket);
        if (profile().buffersSerial) await first.expect('ready');
        const second = await SerialClient.connect(socket);
        second.type('x');
        await second.expect('x');
        first.type('y');
        await expect(first.expect('y', 100)).rejects.toThrow();
        second.close();
      });
    });

    describe('hotplug', () => {
      const spare = (): Record<string, unknown> => ({ path: file('e.raw'), id: 'e0', image_type: 'Raw' });

      it('41, 42: add-disk with nothing, cold and hot', async () => {
        await open();
        expectError(await session.put('vm.add-disk', { path: '/x' }), status('missing'), [A, 'The disk could not be added to the VM', 'VM is not created']);
        await create();
        expect(await session.put('vm.add-disk', { ...spare(), id: 'c0' })).toMatchObject({ status: 204, text: '' });
        expectTail(await session.put('vm.add-disk', { path: '/x', id: 'd0' }), status('duplicate'), 'Failed to validate config', 'Identifier d0 is not unique');
        await session.put('vm.remove-device', { id: 'c0' });
        await session.put('vm.boot');
        const added = await session.put('vm.add-disk', spare());
        expect(added.status).toBe(200);
        expect(JSON.parse(added.text)).toEqual({ id: 'e0', bdf: expect.stringMatching(/^0000:00:0\d\.0$/) });
        expectTail(await session.put('vm.add-disk', { path: '/x', id: 'd0' }), status('duplicate'), 'Identifier d0 is not unique');
        expect(JSON.parse((await session.put('vm.add-disk', { path: file('f.raw'), image_type: 'Raw' })).text)).toMatchObject({ id: expect.stringMatching(/^_disk\d+$/) });
      });
      it('43: add-disk of a missing file changes nothing', async () => {
        await open();
        await run();
        const answer = await session.put('vm.add-disk', { path: '/nonexistent', id: 'e0', image_type: 'Raw' });
        expect(chain(answer).slice(0, 4)).toEqual([A, 'The disk could not be added to the VM', 'Error from device manager', 'Cannot open disk path']);
        expect((await session.info()).config).toMatchObject({ disks: [{ id: 'd0' }] });
      });
      it('44: vIOMMU and a second vsock', async () => {
        await open();
        await run({ vsock: { cid: 3, socket: join(session.directory, 'vsock') } });
        expectTail(await session.put('vm.add-net', { id: 'n', iommu: true }), 500, 'Cannot hotplug device behind vIOMMU');
        expectTail(await session.put('vm.add-vsock', { cid: 4, socket: '/t' }), 500, 'Too many virtio-vsock devices');
      });
      it('45: remove-device refusals', async () => {
        await open();
        expectTail(await session.put('vm.remove-device', { id: 'x' }), status('missing'), 'VM is not created');
        await create();
        expectError(await session.put('vm.remove-device', { id: 'x' }), status('unknown-device'), [A, 'The device could not be removed from the VM', 'No device with id "x" to remove']);
        await session.put('vm.boot');
        expectTail(await session.put('vm.remove-device', { id: 'x' }), status('unknown-device'), 'Error from device manager', 'Failed to find device corresponding to the given identifier: x');
        expectTail(await session.put('vm.remove-device', { id: '__rng' }), 500, expect.stringMatching(/^Not allowed to remove this type of device from the VM: /));
      });
      if (one.simulated) it('46: a removal ends when the guest lets go', async () => {
        await open({ ejectMs: 200 });
        await run();
        expect((await session.put('vm.remove-device', { id: 'd0' })).status).toBe(204);
        expect(await session.info()).toMatchObject({ config: { disks: [] }, device_tree: { d0: expect.anything() } });
        expect((await session.put('vm.remove-device', { id: 'd0' })).status).toBe(profile().retriesRemoval ? 204 : 500);
        expect((await session.event('vm/device-removed')).properties).toEqual({ id: 'd0', bdf: expect.stringMatching(/^0000:00:/) });
        expect((await session.info()).device_tree?.['d0']).toBeUndefined();
        expect((await session.put('vm.remove-device', { id: 'd0' })).status).toBe(status('unknown-device'));
      });
      if (one.simulated) it('47: an id is taken until the guest lets go', async () => {
        await open({ ejectMs: null });
        await run();
        await session.put('vm.remove-device', { id: 'd0' });
        const again = { path: join(session.directory, 'd.raw'), id: 'd0', image_type: 'Raw' };
        expectError(await session.put('vm.add-disk', again), 500, [A, 'The disk could not be added to the VM', 'Error from device manager', 'Invalid identifier as it is not unique: d0']);
        await open({ ejectMs: 0 });
        await run();
        await session.put('vm.remove-device', { id: 'd0' });
        await session.event('vm/device-removed');
        expect((await session.put('vm.add-disk', { ...again, path: join(session.directory, 'd.raw') })).status).toBe(200);
      });
      it('48: a segment holds 31 devices', async () => {
        await open();
        await run();
        let last: Answer | null = null;
        for (let n = 0; n < 31 && (last === null || last.status === 200); n++) last = await session.put('vm.add-disk', { ...spare(), id: `e${n}`, readonly: true });
        expectTail(last ?? (await session.get('vm.info')), 500, 'Failed to find an available PCI device ID', 'Could not find an available device slot on the PCI bus');
        const tree = (await session.info()).device_tree ?? {};
        expect(Object.values(tree).filter((node) => node.pci_bdf !== undefined)).toHaveLength(31);
      });
    });

    describe('resize', () => {
      beforeEach(() => open());
      const ram = (bytes: number): Promise<Answer> => session.put('vm.resize', { desired_ram: bytes });
      const vcpus = (count: number): Promise<Answer> => session.put('vm.resize', { desired_vcpus: count });

      it('49, 50: vCPUs', async () => {
        expectTail(await vcpus(2), status('missing'), 'VM is not created');
        await create({ cpus: { boot_vcpus: 2, max_vcpus: 4 } });
        expect((await vcpus(4)).status).toBe(204);
        expect((await session.info()).config).toMatchObject({ cpus: { boot_vcpus: 4 } });
        await session.put('vm.boot');
        expectError(await vcpus(5), 500, [A, 'The VM could not be resized', 'Error from CPU manager', 'Requested vCPUs exceed maximum']);
        expectTail(await vcpus(0), 500, 'Requested zero vCPUs');
        expect((await vcpus(2)).status).toBe(204);
        const pending = await vcpus(3);
        expect(pending).toMatchObject({ status: 429, text: '["Too Many Requests"]' });
        expect((await vcpus(2)).status).toBe(429);
        expect((await vcpus(4)).status).toBe(204);
      });
      it('51: RAM by ACPI', async () => {
        await run({ memory: { size: GiB, hotplug_size: 2 * GiB } });
        expectTail(await ram(GiB + MiB), 500, 'Memory manager error', 'The requested hotplug memory addition is not a valid size');
        expectTail(await ram(4 * GiB), 500, 'Memory manager error', 'Not enough space in the hotplug RAM region');
        for (let n = 1; n <= 8; n++) expect((await ram(GiB + n * 128 * MiB)).status).toBe(204);
        // A guest that hangs may end in a reset, and a new boot has new slots.
        if (one.guests) expectTail(await ram(GiB + 9 * 128 * MiB), 500, 'Memory manager error', 'No ACPI slot available');
        expect((await ram(GiB)).status).toBe(204);
        expect(await session.info()).toMatchObject({ memory_actual_size: GiB });
      });
      it('52: RAM by virtio-mem, zones, balloon', async () => {
        await run({ memory: { size: GiB, hotplug_method: 'VirtioMem', hotplug_size: GiB } });
        expectTail(await ram(512 * MiB), 500, `Invalid resize request: desired_size = ${512 * MiB} below boot size = ${GiB}`);
        expectTail(await session.put('vm.resize', { desired_balloon: MiB }), 500, "Missing virtio-balloon, can't proceed as expected");
        await session.put('vm.delete');
        await run({ memory: { size: 0, zones: [{ id: 'z', size: GiB }] } });
        expectTail(await ram(2 * GiB), 500, 'Impossible to resize guest memory if it is backed by user defined memory regions');
      });
      it('53: disks', async () => {
        const disk = (size: number, id = 'd0'): Promise<Answer> => session.put('vm.resize-disk', { id, desired_size: size });
        await create();
        expectTail(await disk(2 * MiB), 500, 'Failed resizing a disk image');
        await session.put('vm.boot');
        expect((await disk(2 * MiB, 'x')).status).toBe(status('unknown-device'));
        expect(chain(await disk(1000))).toContain('Disk resize error');
        expect((await disk(2 * MiB)).status).toBe(204);
        expect(statSync(join(session.directory, 'd.raw')).size).toBe(2 * MiB);
      });
      it('54: zones', async () => {
        const zone = (id: string): Promise<Answer> => session.put('vm.resize-zone', { id, desired_ram: 2 * GiB });
        expectTail(await zone('z'), status('missing'), 'VM is not created');
        await create({ memory: { size: 0, zones: [{ id: 'z', size: GiB }] } });
        expectError(await zone('x'), 500, [A, 'The memory zone could not be resized', 'Failed resizing a memory zone']);
        expect((await zone('z')).status).toBe(204);
        expect((await session.info()).config).toMatchObject({ memory: { zones: [{ size: 2 * GiB }] } });
        await session.put('vm.boot');
        expectError(await zone('x'), 500, [A, 'The memory zone could not be resized', 'Failed resizing a memory zone']);
      });
    });

    // A KVM that does not run guests does not give away their state either.
    if (one.guests) describe('snapshot and restore', () => {
      beforeEach(() => open());
      const snapshot = (url: string): Promise<Answer> => session.put('vm.snapshot', { destination_url: url });

      it('55, 56: snapshots', async () => {
        await run();
        expectError(await snapshot('file:///tmp'), 500, [A, 'The VM could not be snapshotted', 'Cannot snapshot VM', 'Failed to snapshot migratable component', 'Trying to snapshot while VM is running']);
        await session.put('vm.pause');
        expectTail(await snapshot('/x'), 500, 'Cannot send VM snapshot', 'Failed to send migratable component snapshot', 'Could not extract path from URL: /x');
        expectTail(await snapshot('file:///nonexistent'), 500, 'Destination is not a directory: "/nonexistent"');
        const directory = join(session.directory, 'snap');
        mkdirSync(directory);
        expect((await snapshot(`file://${directory}`)).status).toBe(204);
        for (const name of ['config.json', 'state.json', 'memory-ranges']) expect(existsSync(join(directory, name))).toBe(true);
        expect((await session.info()).state).toBe('Paused');
        expectTail(await snapshot(`file://${directory}`), 500, 'Error creating VM config snapshot file', 'File exists (os error 17)');
        expect((await session.put('vm.resume')).status).toBe(204);
      });
      it('57, 58: restores', async () => {
        await run({ serial: { mode: 'Pty' } });
        await session.put('vm.pause');
        const directory = join(session.directory, 'snap');
        mkdirSync(directory);
        await snapshot(`file://${directory}`);
        const before = (await session.info()).config as unknown as { serial: { file: string } };
        const restore = (change: Record<string, unknown> = {}): Promise<Answer> => session.put('vm.restore', { source_url: `file://${directory}`, ...change });
        expectError(await restore(), 500, [A, 'The VM could not be restored', 'VM is already created']);
        await session.put('vm.delete');
        expectTail(await restore({ source_url: 'file:///nonexistent' }), 500, 'Cannot restore VM', 'Failed to send migratable component snapshot', 'Destination is not a directory: "/nonexistent"');
        const empty = join(session.directory, 'empty');
        mkdirSync(empty);
        expect(chain(await restore({ source_url: `file://${empty}` }))).toContain('Failed to receive migratable component snapshot');
        expectTail(await restore({ prefault: true, memory_restore_mode: 'OnDemand' }), status('validation'), "'prefault' cannot be combined with 'memory_restore_mode=ondemand'");
        expect((await session.get('vm.info')).status).toBe(status('missing'));
        expect((await restore()).status).toBe(204);
        const after = await session.info();
        expect(after.state).toBe('Paused');
        expect((after.config as unknown as typeof before).serial.file).toMatch(/^\/dev\/pts\//);
        expect({ ...after.config, serial: null }).toEqual({ ...before, serial: null });
        expect(session.eventNames()).toEqual(expect.arrayContaining(['vm/restoring', 'vm/restored']));
        await session.put('vm.delete');
        await restore({ resume: true });
        expect((await session.info()).state).toBe('Running');
      });
      it.skip('59 to 61: live migration (not simulated; no driver uses it)', () => undefined);
    });

    if (one.guests) describe('guest', () => {
      const console = async (): Promise<SerialClient> => {
        const client = await SerialClient.connect(join(session.directory, 's.sock'));
        if (profile().buffersSerial) await client.expect('ready');
        return client;
      };
      const withSerial = (): Record<string, unknown> => ({ serial: { mode: 'Socket', socket: join(session.directory, 's.sock') } });

      it('62: power-off by the guest', async () => {
        await open();
        await run(withSerial());
        (await console()).type('p');
        expect(await session.ended).toBe(0);
        expect(session.eventNames().slice(-3)).toEqual(['vm/shutdown', 'vm/deleted', 'vmm/shutdown']);
        await open({}, true);
        await run(withSerial());
        (await console()).type('p');
        await session.event('vm/shutdown');
        expect(await session.info()).toMatchObject({ state: 'Created' });
        expect(session.eventNames()).not.toContain('vmm/shutdown');
      });
      it('63: reboot by the guest', async () => {
        await open();
        await run(withSerial());
        (await console()).type('r');
        await session.event('vm/rebooted');
        (await console()).close();
        expect((await session.info()).state).toBe('Running');
      });
      it('68: counters, with numbers beyond what JavaScript holds', async () => {
        await open();
        await run({ net: [{ id: 'n0' }] });
        const { text } = await session.get('vm.counters');
        expect(text).toContain('"read_latency_min":18446744073709551615');
        const counters = JSON.parse(text) as Record<string, Record<string, number>>;
        expect(Object.keys(counters['d0'] ?? {})).toHaveLength(10);
        expect(counters['n0']).toEqual({ rx_bytes: 0, rx_frames: 0, tx_bytes: 0, tx_frames: 0 });
      });
      if (one.simulated) it('69: power button and NMI', async () => {
        await open({ obeyPowerButton: false });
        await run(withSerial());
        const serial = await console();
        expect((await session.put('vm.nmi')).status).toBe(204);
        expect((await session.put('vm.power-button')).status).toBe(204);
        await serial.expect('button');
        expect((await session.info()).state).toBe('Running');
        await open({ powerOffMs: 20 });
        await run();
        await session.put('vm.power-button');
        expect(await session.ended).toBe(0);
      });
      it('67: the shape of the event stream', async () => {
        await open();
        await run();
        const parts = session.eventText().split('\n\n');
        expect(parts.pop()).toBe('');
        const events = parts.map((part) => JSON.parse(part) as { timestamp: { secs: number; nanos: number }; properties: unknown });
        expect(parts[0]).toContain('{\n  "timestamp": {\n');
        expect(events[0]?.properties).toBeNull();
        const times = events.map(({ timestamp }) => timestamp.secs * 1e9 + timestamp.nanos);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        if (!one.simulated) return;
        await open({ eventLoss: 1 });
        await run();
        expect(session.eventText()).toBe('');
      });
    });
  });
};

const processCases = (name: string, version: VersionProfile['name'], path: (knobs?: Partial<SimulationKnobs>) => string): void => {
  describe(`${name} as a process`, () => {
    beforeAll(() => {
      subject = { name, version, open: (knobs) => launch(knobs), simulated: false, guests: false };
    });
    const launch = async (knobs?: Partial<SimulationKnobs>, options: { args?: string[]; directory?: string } = {}): Promise<VmmSession> => {
      session = await VmmSession.program(path(knobs), options);
      closing.push(session);
      return session;
    };

    it('1, 2, 16, 18 to 20, 23, 24, 27: the same answers, and an orderly end', async () => {
      await launch();
      expect(JSON.parse((await session.get('vmm.ping')).text)).toMatchObject({ pid: session.pid });
      expectError(await session.get('nope'), 404, ['Not Found']);
      expectTail(await session.get('vm.info'), status('missing'), 'VM is not created');
      expectTail(await session.put('vm.boot'), status('missing'), 'VM config is missing');
      expectTail(await session.put('vm.pause'), 500, 'VM is not running');
      expectTail(await session.put('vm.reboot'), status('missing'), 'VM is not created');
      await session.put('vm.create', { console: { mode: 'Off' } });
      expectTail(await session.put('vm.create', {}), 500, 'VM is already created');
      expectTail(await session.put('vm.boot'), status('validation'), 'Payload configuration is not bootable', 'No bootitem provided: neither firmware nor kernel');
      await session.put('vmm.shutdown').catch(() => undefined);
      expect(await session.ended).toBe(0);
      expect(session.eventNames().at(-1)).toBe('vmm/shutdown');
      expect(existsSync(session.socket)).toBe(false);
      expect(existsSync(`${session.socket}.lock`)).toBe(true);
    });
    it('39: a panic of the VMM thread', async () => {
      await launch();
      expectTail(await session.put('vm.create', { serial: { mode: 'File' } }), 500, 'receiving on a closed channel');
      expect(await session.ended).toBe(1);
    });
    it('65: SIGTERM is orderly; after SIGKILL the socket stays and the next one removes it', async () => {
      await launch();
      process.kill(session.pid, 'SIGTERM');
      expect(await session.ended).toBe(0);
      expect(session.eventNames().at(-1)).toBe('vmm/shutdown');
      const { directory } = session;
      const second = await launch(undefined, { directory });
      await second.kill();
      expect(existsSync(second.socket)).toBe(true);
      const third = await launch(undefined, { directory });
      expect((await third.get('vmm.ping')).status).toBe(200);
    });
    it('66: a second instance on a live socket', async () => {
      const first = await launch();
      const second = await VmmSession.program(path(), { directory: first.directory });
      expect(await second.ended).toBe(1);
      expect(second.errors()).toContain(`API socket "${first.socket}" is already in use by another running instance`);
      expect((await first.get('vmm.ping')).status).toBe(200);
    });
  });
};

let binary: SimulatedBinary | null = null;
afterAll(() => binary?.remove());
for (const version of ['v50', 'v53', 'head'] as const) {
  apiCases({ name: `simulation of ${version}`, version, open: (knobs, stay) => VmmSession.inProcess({ version, ...knobs }, stay), simulated: true, guests: true });
}
processCases('simulation', 'head', (knobs) => (binary ??= new SimulatedBinary()).program(`ch-${JSON.stringify(knobs ?? {}).replace(/\W/g, '')}`, knobs));
const real = realVmm();
if (real) {
  // Where KVM itself is emulated everything takes its time.
  jest.setTimeout(180_000);
  const { binary: path, profile: version } = real;
  processCases('cloud-hypervisor', version, () => path);
  apiCases({ name: 'cloud-hypervisor', version, open: (_knobs, stay) => VmmSession.program(path, { args: stay ? ['--no-shutdown'] : [] }), simulated: false, guests: bootsGuests(real) });
} else {
  describe('cloud-hypervisor', () => it.skip('needs cloud-hypervisor on the PATH and /dev/kvm', () => undefined));
}

it('65: before v53 a stale socket is an error', async () => {
  binary ??= new SimulatedBinary();
  const old = binary.program('ch-v50', { version: 'v50' });
  const first = await VmmSession.program(old);
  closing.push(first);
  await first.kill();
  const second = await VmmSession.program(old, { directory: first.directory });
  expect(await second.ended).toBe(1);
  expect(second.errors()).toContain('Address already in use (os error 98)');
});
