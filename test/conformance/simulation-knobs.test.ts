import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { SimulationKnobs } from '../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import { pvhGuest } from '../integration/compute/pvh-guest';
import { SimulatedBinary } from '../integration/compute/simulated-binary';
import { waitFor } from '../support/wait-for';
import { needs, type Need } from './lab/subject';
import { VmmLab } from './lab/vmm-lab';
import type { Answer } from './lab/vmm-session';

jest.setTimeout(30_000);

/** What can be asked of a simulation beyond what a real VMM does, and its command line. */
describe('knobs of the simulation', () => {
  const binary = new SimulatedBinary();
  let programs = 0;
  const lab = new VmmLab({
    name: 'simulation',
    version: 'v54',
    program: (knobs: Partial<SimulationKnobs>) => binary.program(`ch-${programs++}`, knobs),
    guest: pvhGuest(),
    can: new Set(Object.keys(needs) as Need[]),
  });
  afterEach(() => lab.close());
  afterAll(() => binary.remove());
  const button = (): Promise<Answer> => lab.session.put('vm.power-button');

  it('obeyPowerButton: a guest that ignores its power button runs on', async () => {
    await lab.open({ obeyPowerButton: false });
    await lab.run(lab.serial());
    const serial = await lab.console();
    expect((await button()).status).toBe(204);
    await serial.expect('button');
    expect((await lab.session.info()).state).toBe('Running');
    expect(lab.session.eventNames()).not.toContain('vm/shutdown');
  });
  it('powerOffMs: a guest that obeys it takes that long', async () => {
    await lab.open({ powerOffMs: 300 });
    await lab.run(lab.serial());
    const serial = await lab.console();
    await button();
    await serial.expect('button');
    expect((await lab.session.info()).state).toBe('Running');
    expect(await lab.session.ended).toBe(0);
    const at = (name: string): number => {
      const { timestamp } = JSON.parse(
        lab.session
          .eventText()
          .split('\n\n')
          .find((part) => part.includes(`"${name}"`)) ?? '{}',
      ) as { timestamp: { secs: number; nanos: number } };
      return timestamp.secs * 1e3 + timestamp.nanos / 1e6;
    };
    expect(at('deleted') - at('booted')).toBeGreaterThanOrEqual(300);
  });
  it('drivers: a guest without drivers activates no device', async () => {
    await lab.open();
    await lab.run();
    expect((await lab.session.event('virtio-device/activated')).properties).toEqual({ id: 'd0' });
    await lab.open({ drivers: false });
    await lab.run();
    await lab.session.event('vm/booted');
    expect(lab.session.eventNames()).not.toContain('virtio-device/activated');
  });
  it('onlineMs: vCPUs that are taken back are pending that long', async () => {
    await lab.open({ onlineMs: 30 });
    await lab.run({ cpus: { boot_vcpus: 3, max_vcpus: 3 } });
    const vcpus = (count: number): Promise<Answer> => lab.session.put('vm.resize', { desired_vcpus: count });
    expect((await vcpus(1)).status).toBe(204);
    await waitFor('the guest to give two vCPUs back', async () => (await vcpus(2)).status === 204);
    expect((await lab.session.info()).config).toMatchObject({ cpus: { boot_vcpus: 2 } });
  });
  it('guestDebug: only a build for debugging dumps memory, into a new file', async () => {
    const folder = mkdtempSync('/tmp/t-core-');
    const dump = (name = 'core'): Promise<Answer> =>
      lab.session.put('vm.coredump', { destination_url: `file://${folder}/${name}` });
    try {
      await lab.open();
      await lab.run();
      expect(await dump()).toMatchObject({ status: 404, text: '["Not Found"]' });
      await lab.open({ guestDebug: true });
      expect(await dump()).toMatchObject({ status: 500, text: expect.stringContaining('VM is not running') });
      await lab.run();
      expect((await dump()).status).toBe(204);
      expect((await lab.session.info()).state).toBe('Running');
      const core = readFileSync(join(folder, 'core'));
      // An ELF file of type core, with notes and one segment of memory.
      expect([core.subarray(0, 4).toString('latin1'), core.readUInt16LE(16), core.readUInt16LE(56)]).toEqual([
        '\u007fELF',
        4,
        2,
      ]);
      expect(lab.session.eventNames()).toEqual(expect.arrayContaining(['vm/coredumping', 'vm/paused', 'vm/resumed']));
      // One that fails leaves the VM paused.
      expect(await dump()).toMatchObject({ status: 500, text: expect.stringContaining('Error coredumping VM') });
      expect((await lab.session.info()).state).toBe('Paused');
      expect((await dump('again')).status).toBe(204);
      expect((await lab.session.info()).state).toBe('Paused');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  it('latencyMs: one call takes longer, by its name', async () => {
    await lab.open({ latencyMs: { 'vm.info': 200 } });
    const timed = async (run: () => Promise<unknown>): Promise<number> => {
      const started = performance.now();
      await run();
      return performance.now() - started;
    };
    expect(await timed(() => lab.session.get('vm.info'))).toBeGreaterThanOrEqual(199);
  });
  it.each([7, 'SIGSEGV', 'SIGSYS'] as const)('crashAt: the process ends with %s at a chosen call', async (exit) => {
    await lab.open({ crashAt: { endpoint: 'vm.pause', exit } });
    await lab.run();
    await expect(lab.session.put('vm.pause')).rejects.toThrow();
    expect(await lab.session.ended).toBe(exit);
    expect(lab.session.eventNames()).not.toContain('vmm/shutdown');
  });
  it('eventLoss: some events, or all, are lost', async () => {
    await lab.open({ eventLoss: 0.5 });
    for (let n = 0; n < 100; n++) await lab.session.put('vm.reboot');
    const seen = lab.session.eventNames().filter((name) => name === 'vm/rebooting').length;
    expect(seen).toBeGreaterThan(0);
    expect(seen).toBeLessThan(100);
  });
  it('landlock: a kernel that lacks it refuses the VM that asks for it', async () => {
    await lab.open({ landlock: false });
    expect(await lab.session.put('vm.create', lab.basic({ landlock_enable: true }))).toMatchObject({
      status: 500,
      text: expect.stringContaining('Failed to apply landlock config during vm_create'),
    });
  });
  it('stalled: connections are taken, and nothing is ever answered', async () => {
    const directory = mkdtempSync('/tmp/t-vmm-stalled-');
    const path = join(directory, 'api.sock');
    const child = spawn(binary.program('ch-stalled', { stalled: true }), ['--api-socket', path], { stdio: 'ignore' });
    try {
      await waitFor('the socket', () => existsSync(path));
      const socket = connect(path);
      await once(socket, 'connect');
      socket.write('GET /api/v1/vmm.ping HTTP/1.1\r\n\r\n');
      const answered = once(socket, 'data').then(() => true);
      const waited = new Promise((resolve) => setTimeout(resolve, 300, false));
      expect(await Promise.race([answered, waited])).toBe(false);
      socket.destroy();
      // It is not dead: a signal ends it in order.
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  });
  it('resources: without the host, nothing is looked at and nothing is made', async () => {
    await lab.open({ resources: 'none' });
    await lab.session.put('vm.create', {
      payload: { kernel: '/nonexistent' },
      disks: [{ path: '/nonexistent', id: 'd0', image_type: 'Raw' }],
      serial: { mode: 'Pty' },
    });
    expect((await lab.session.put('vm.boot')).status).toBe(204);
    expect((await lab.session.info()).state).toBe('Running');
  });
  it.each([
    ['v50', 'v50.0.0'],
    ['v53', 'v53.0.0'],
    ['v54', 'v54.0.0-dev'],
  ] as const)('version %s is what the program and its API say', async (version, text) => {
    const path = binary.program(`ch-${version}`, { version });
    expect(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout).toBe(`cloud-hypervisor ${text}\n`);
    await lab.open({ version });
    expect(JSON.parse((await lab.session.get('vmm.ping')).text)).toMatchObject({ build_version: text });
  });
});

describe('command line of the simulation', () => {
  const binary = new SimulatedBinary();
  const directory = mkdtempSync('/tmp/t-vmm-line-');
  afterAll(() => {
    binary.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  it('sends events to a descriptor, truncates the log, and takes paths with and without their name', async () => {
    const log = join(directory, 'log');
    const child = spawn(
      binary.program('ch'),
      [
        '--api-socket',
        join(directory, 's'),
        '--event-monitor',
        'fd=3',
        '--log-file',
        log,
        '-v',
        '--seccomp',
        'true',
        '--landlock',
      ],
      { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] },
    );
    const events = child.stdio[3];
    if (!events) throw new Error('no pipe');
    const [first] = (await once(events, 'data')) as [Buffer];
    expect(JSON.parse(String(first).split('\n\n')[0] ?? '')).toMatchObject({ source: 'vmm', event: 'starting' });
    expect(readFileSync(log, 'utf8')).toBe('');
    await waitFor('the socket', () => existsSync(join(directory, 's')));
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
  it('refuses an argument that it does not know', () => {
    const { status, stderr } = spawnSync(binary.program('ch'), ['--nonsense'], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain("unexpected argument '--nonsense' found");
  });
});
