import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { exec } from '../../../src/core/host/processes/exec';
import { processesNaming } from '../../../src/core/host/processes/processes-naming';
import { ChClient } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-client';
import { unixTransport } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/ch-transport';
import { CloudHypervisorDriver } from '../../../src/modules/compute/node/drivers/cloud-hypervisor/cloud-hypervisor.driver';
import type { SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import type { VmSpec } from '../../../src/modules/compute/node/drivers/vmm-driver';
import { TestNamespaces } from '../../support/namespaces';
import { waitFor } from '../../support/wait-for';
import { driverContract } from './driver.contract.suite';
import { SimulatedBinary } from './simulated-binary';
import { testSandbox, testUser } from './test-sandbox';

jest.setTimeout(30_000);

const quiet = pino({ enabled: false });
let binary: SimulatedBinary;
let cacheDir: string;
beforeAll(async () => {
  binary = new SimulatedBinary();
  cacheDir = await mkdtemp('/tmp/t-vmm-ch-');
});
afterAll(async () => {
  binary.remove();
  await rm(cacheDir, { recursive: true, force: true });
});

const driverOf = (knobs: Partial<SimulationKnobs> = {}, name = 'cloud-hypervisor'): CloudHypervisorDriver =>
  new CloudHypervisorDriver(
    {
      binary: binary.program(name, knobs),
      payload: { firmware: binary.file('firmware'), kernel: '', cmdline: '' },
      cacheDir,
      sandbox: testSandbox,
      simulated: true,
    },
    quiet,
  );

for (const version of ['v50', 'v53', 'v54'] as const) {
  // One of them is a build for debugging, which dumps memory.
  const guestDebug = version === 'v53';
  driverContract(`cloud-hypervisor (simulated ${version})`, () => ({
    make: () => driverOf({ version, guestDebug }),
    usesResources: true,
    hasProcesses: true,
  }));
}

describe('cloud-hypervisor: a trial whose agent is killed', () => {
  it('is ended by the next probe, and leaves no process and no file', async () => {
    const trials = await mkdtemp('/tmp/t-vmm-killed-');
    const firmware = binary.file('firmware');
    const options = (program: string) => ({
      binary: program,
      payload: { firmware, kernel: '', cmdline: '' },
      cacheDir: trials,
      sandbox: testSandbox,
      simulated: true,
    });
    const note = async (): Promise<string | undefined> =>
      (await readdir(trials)).find((name) => /^trial-.*\.json$/.test(name));
    const agent = spawn(
      process.execPath,
      [
        '-r',
        require.resolve('../../support/ts-register.js'),
        join(__dirname, 'dying-prober.ts'),
        JSON.stringify(options(binary.program('silent', { stalled: true }))),
      ],
      { stdio: 'inherit' },
    );
    const gone = new Promise((resolve) => agent.once('exit', resolve));
    try {
      const name = await waitFor('the trial', note, 20_000);
      const { directory } = JSON.parse(await readFile(join(trials, name), 'utf8')) as { directory: string };
      await waitFor('its VMM', () => existsSync(join(directory, 'own', 'api.sock')), 20_000);
      agent.kill('SIGKILL');
      await gone;
      expect(await processesNaming(directory)).not.toEqual([]);
      expect(await new CloudHypervisorDriver(options(binary.program('cloud-hypervisor')), quiet).probe()).toMatchObject(
        { usable: true },
      );
      expect(await processesNaming(directory)).toEqual([]);
      expect(existsSync(directory)).toBe(false);
      expect(await note()).toBeUndefined();
    } finally {
      agent.kill('SIGKILL');
      await rm(trials, { recursive: true, force: true });
    }
  });
});

describe('cloud-hypervisor: what only it does', () => {
  let directory: string;
  let spec: VmSpec;
  beforeEach(async () => {
    directory = await mkdtemp('/tmp/t-vmm-ch-');
    await writeFile(join(directory, 'disk.raw'), Buffer.alloc(4096));
    spec = {
      instanceId: randomUUID(),
      name: 'x',
      vcpus: 2,
      memoryBytes: 64 * 1024 * 1024,
      disks: [{ id: 'd', path: join(directory, 'disk.raw'), format: 'raw', readonly: false }],
      nics: [],
      netns: null,
      user: testUser,
      runDir: join(directory, 'run'),
      logDir: join(directory, 'log'),
    };
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const leavesNothing = async (driver: CloudHypervisorDriver, code: string): Promise<void> => {
    await expect(driver.start(spec)).rejects.toMatchObject({ name: 'VerbFailure', code });
    expect(await readdir(directory)).toEqual(['disk.raw']);
  };

  it('ends the process when the VMM crashes at create or boot', async () => {
    for (const endpoint of ['vm.create', 'vm.boot']) {
      for (const exit of [1, 'SIGKILL'] as const) {
        // The trial boot of the probe must succeed: its outcome is cached by the program's name.
        const name = `crash-${endpoint}-${exit}`;
        await driverOf({}, name).probe();
        await leavesNothing(driverOf({ crashAt: { endpoint, exit } }, name), 'vmm_unresponsive');
      }
    }
  });

  it('has no watchdog that stops or only tells, and says so before anything is touched', async () => {
    const wanted = { ...spec, machine: { watchdog: 'stop' as const } };
    await expect(driverOf().start(wanted)).rejects.toMatchObject({
      code: 'no_such_machine',
      permanent: true,
      message: 'The instance asks for a watchdog that stops, which Cloud Hypervisor does not have on this host.',
    });
    expect(await readdir(directory)).toEqual(['disk.raw']);
  });

  it('starts without Landlock where the kernel has none that the VMM can use', async () => {
    const driver = driverOf({ landlock: false }, 'no-landlock');
    const { capabilities, warning } = await driver.probe();
    expect(capabilities).not.toContain('landlock');
    expect(warning).toContain('Landlock: this kernel has no Landlock that Cloud Hypervisor can use');
    for (const run of ['first', 'second']) {
      const handle = await driver.start({
        ...spec,
        runDir: join(directory, run),
        logDir: join(directory, `${run}-log`),
      });
      expect(await driver.state(handle)).toBe('running');
      await driver.kill(handle);
    }
  });

  it('may open its tap in its namespace, confined by Landlock too', async () => {
    const namespaces = new TestNamespaces('t-vmm');
    const netns = namespaces.add('ch');
    try {
      await exec('ip', [
        '-n',
        netns,
        'tuntap',
        'add',
        'dev',
        't-vmm-tap',
        'mode',
        'tap',
        'group',
        String(testSandbox.tapGroup),
      ]);
      const driver = driverOf();
      const nics = [{ id: 'n', tap: 't-vmm-tap', mac: '52:54:00:00:00:01', mtu: 1450 }];
      // What it has no right to mend, and says by name.
      await expect(driver.start({ ...spec, netns, nics })).rejects.toMatchObject({
        code: 'tap_down',
        permanent: false,
      });
      await exec('ip', ['-n', netns, 'link', 'set', 't-vmm-tap', 'up']);
      const handle = await driver.start({
        ...spec,
        netns,
        nics,
      });
      expect(await driver.state(handle)).toBe('running');
      await driver.kill(handle);
    } finally {
      namespaces.close();
    }
  });

  it('confines every VM by Landlock, whatever became of one whose tap vanished', async () => {
    const namespaces = new TestNamespaces('t-vmm');
    const netns = namespaces.add('ch-ll');
    const nics = [{ id: 'n', tap: 't-vmm-tap', mac: '52:54:00:00:00:01', mtu: 1450 }];
    const addTap = async (): Promise<void> => {
      const group = String(testSandbox.tapGroup);
      await exec('ip', ['-n', netns, 'tuntap', 'add', 'dev', 't-vmm-tap', 'mode', 'tap', 'group', group]);
      await exec('ip', ['-n', netns, 'link', 'set', 't-vmm-tap', 'up']);
    };
    try {
      await addTap();
      const driver = driverOf({ latencyMs: { 'vm.create': 3000 } }, 'slow-create');
      expect((await driver.probe()).capabilities).toContain('landlock');
      const failed = driver.start({ ...spec, netns, nics }).then(
        () => null,
        (error: unknown) => error,
      );
      // What is looked at before a start has been looked at once the VMM listens.
      while (!existsSync(join(spec.runDir, 's', 'api.sock'))) await delay(5);
      await exec('ip', ['-n', netns, 'link', 'del', 'dev', 't-vmm-tap']);
      expect(await failed).toMatchObject({
        code: 'vmm_refused',
        cause: {
          chain: expect.arrayContaining(['Path "/sys/class/net/t-vmm-tap" provided in landlock-rules does not exist']),
        },
      });
      await addTap();
      const handle = await driver.start({ ...spec, netns, nics });
      const config = (await new ChClient(unixTransport(join(spec.runDir, 's', 'api.sock'), testUser)).info())?.config;
      expect(config).toMatchObject({ landlock_enable: true });
      await driver.kill(handle);
    } finally {
      namespaces.close();
    }
  });

  it('says so when a disk carries another format than raw', async () => {
    await writeFile(
      join(directory, 'disk.raw'),
      Buffer.concat([Buffer.from([0x51, 0x46, 0x49, 0xfb]), Buffer.alloc(4092)]),
    );
    await leavesNothing(driverOf(), 'disk_format');
  });

  it('refuses without firmware and kernel, and a small MTU', async () => {
    const bare = new CloudHypervisorDriver(
      {
        binary: binary.program('cloud-hypervisor'),
        payload: { firmware: '', kernel: '', cmdline: '' },
        cacheDir,
        sandbox: testSandbox,
        simulated: true,
      },
      quiet,
    );
    expect(() => bare.validate(spec)).toThrow(expect.objectContaining({ code: 'no_firmware' }));
    expect(await bare.probe()).toMatchObject({ usable: false });
    expect(() =>
      driverOf().validate({ ...spec, nics: [{ id: 'n', tap: 't', mac: '52:54:00:00:00:01', mtu: 1000 }] }),
    ).toThrow(expect.objectContaining({ code: 'invalid_spec' }));
  });

  it('is not usable when the program is missing, or its firmware', async () => {
    const missing = new CloudHypervisorDriver(
      {
        binary: '/nonexistent/ch',
        payload: { firmware: '/f', kernel: '', cmdline: '' },
        cacheDir,
        sandbox: testSandbox,
      },
      quiet,
    );
    expect(await missing.probe()).toMatchObject({ usable: false, reason: '/nonexistent/ch is not installed' });
    const lost = new CloudHypervisorDriver(
      {
        binary: binary.program('cloud-hypervisor'),
        payload: { firmware: '/nonexistent/fw', kernel: '', cmdline: '' },
        cacheDir,
        sandbox: testSandbox,
        simulated: true,
      },
      quiet,
    );
    await leavesNothing(lost, 'firmware_missing');
  });

  it('knows a power-off by the guest even when every event was lost', async () => {
    const driver = driverOf({ eventLoss: 0.999, powerOffMs: 20 }, 'lossy');
    const handle = await driver.start(spec);
    await driver.powerButton(handle);
    const exit = await driver.waitExit(handle, new AbortController().signal);
    expect(['operator', 'crashed']).toContain(exit.cause);
    await driver.kill(handle);
  });

  it('kills a VMM whose API is stalled', async () => {
    const driver = driverOf({}, 'stalled');
    const handle = await driver.start(spec);
    process.kill(handle.process.pid, 'SIGSTOP');
    try {
      await driver.kill(handle);
    } finally {
      expect(await driver.state(handle)).toBe('stopped');
    }
  });

  it('never takes another process that answers on the socket for its own', async () => {
    const driver = driverOf();
    const handle = await driver.start(spec);
    try {
      const impostor = { ...handle, process: { pid: process.pid, startTime: handle.process.startTime } };
      expect(await driverOf().state(impostor)).toBe('stopped');
    } finally {
      await driver.kill(handle);
    }
  });

  it('starts again in the same folder after a kill from outside', async () => {
    await mkdir(spec.runDir, { recursive: true });
    const driver = driverOf({ version: 'v50' });
    const first = await driver.start(spec);
    process.kill(first.process.pid, 'SIGKILL');
    await driver.waitExit(first, new AbortController().signal);
    const second = await driver.start(spec);
    expect(await driver.state(second)).toBe('running');
    await driver.kill(second);
  });
});
