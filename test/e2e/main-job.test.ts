import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { hostHash, networkNetns } from '../../src/modules/network/node/drivers/linux/names';
import { sh } from '../support/namespaces';
import { TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';
import { OlderSide } from '../support/older-side';
import { attachedDiskCases } from './attached-disks.suite';
import { instanceChangeCases } from './instance-changes.suite';
import { rescueCases } from './rescue.suite';
import { stillAndSuspendedCases } from './still-and-suspended.suite';

const minutes = 60_000;
const userData = Buffer.from(
  '#!/bin/sh\necho "@@ user-data says hello"\necho "@@ outside: $(wget -q -O - http://198.51.100.1:8000/)"\n',
).toString('base64');

describe('the main job: a real guest on two real hosts', () => {
  let cloud: TestCloud;
  let keys: string;
  let older: OlderSide;

  beforeAll(async () => {
    older = new OlderSide('0.1.0');
    cloud = await TestCloud.start('job', { hosts: ['h1', 'h2'], managementEnv: older.env, computeEnv: older.env });
    await cloud.furnish();
    keys = mkdtempSync('/tmp/vcs-keys-');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, 'id')]);
  }, 3 * minutes);

  afterAll(async () => {
    await cloud?.close();
    older?.remove();
    if (keys) rmSync(keys, { recursive: true, force: true });
  }, 2 * minutes);

  const hostIdOf = (instance: Instance): string => instance.host?.id ?? '';
  const vmmPid = (instance: Instance): number => {
    const record = JSON.parse(
      readFileSync(join(cloud.stateOf(instance.host?.name ?? ''), 'instances', instance.id, 'instance.json'), 'utf8'),
    ) as { handle: { process: { pid: number } } };
    return record.handle.process.pid;
  };

  it(
    'boots with its address, name, key, user data, and reaches the outside through NAT',
    async () => {
      const stopOutside = await cloud.serveOutside('hello from outside');
      const { instance, taskId } = await cloud.create('Web Server', {
        sshKeys: [readFileSync(join(keys, 'id.pub'), 'utf8').trim()],
        userData,
        vmm: 'qemu',
      });
      expect(instance).toMatchObject({ state: 'building', wantedVmm: 'qemu' });
      const viewer = cloud.settled(taskId).then(() => cloud.console(instance.id));
      const task = await cloud.settled(taskId);
      expect(task.steps.map((s) => s.state)).toEqual(task.steps.map(() => 'succeeded'));
      const running = await cloud.instance(instance.id);
      expect(running).toMatchObject({
        state: 'running',
        vmm: 'qemu',
        ports: [{ address: expect.stringMatching(/^10\.10\.0\./) }],
      });

      const screen = await viewer;
      const address = running.ports[0]?.address ?? '';
      await screen.until(/@@ user-data says hello/);
      await screen.until(/@@ outside: hello from outside/);
      await screen.until(new RegExp(`@@ ready web-server ${address.replaceAll('.', '\\.')}`));
      await stopOutside();

      screen.type('\nhostname; ip route\n');
      await screen.until(/default via 10\.10\.0\.1/);
      screen.close();

      const network = networkNetns(hostHash(hostIdOf(running)), running.ports[0]?.networkId ?? '');
      const greeting = await eventually('ssh into the guest', () => {
        try {
          return sh(
            'ip',
            'netns',
            'exec',
            network,
            'ssh',
            '-i',
            join(keys, 'id'),
            '-o',
            'StrictHostKeyChecking=no',
            '-o',
            'UserKnownHostsFile=/dev/null',
            '-o',
            'ConnectTimeout=5',
            '-o',
            'BatchMode=yes',
            '-o',
            'LogLevel=ERROR',
            `root@${address}`,
            'hostname',
          );
        } catch {
          return false;
        }
      });
      expect(greeting.trim()).toBe('web-server');
    },
    3 * minutes,
  );

  it(
    'places the next instance on the other host',
    async () => {
      // What is done to it from here on is done to a machine with a TPM.
      const { instance, taskId } = await cloud.create('second', {
        machine: { tpm: true, watchdog: 'notify', panic: 'notify' },
      });
      await cloud.settled(taskId);
      const [first, second] = [await cloud.instance('Web Server'), await cloud.instance(instance.id)];
      expect(second.host?.name).not.toBe(first.host?.name);
      expect(second.ports[0]?.address).not.toBe(first.ports[0]?.address);
    },
    2 * minutes,
  );

  it(
    'stops with the power button, starts again, and reboots',
    async () => {
      const before = await cloud.instance('second');
      const screen = await cloud.console('second');
      await screen.until(/@@ ready second/);
      await screen.ask('echo tpm $(cat /sys/class/tpm/tpm0/tpm_version_major)', /tpm 2/);
      const stop = await cloud.api.ok('POST', '/instances/second/actions/stop?project=default', {});
      await cloud.settled(stop.taskId);
      expect(await cloud.instance('second')).toMatchObject({ state: 'stopped', stateReason: 'stopped on request' });

      const again = await cloud.api.call('POST', '/instances/second/actions/stop?project=default', {});
      expect(again).toMatchObject({ status: 409, body: { code: 'instance_stopped', state: 'stopped' } });

      const start = await cloud.api.ok('POST', '/instances/second/actions/start?project=default');
      await cloud.settled(start.taskId);
      const after = await cloud.instance('second');
      expect(after).toMatchObject({
        state: 'running',
        host: before.host,
        ports: before.ports,
        machine: { tpm: true, watchdog: 'notify' },
      });
      expect(after.startedAt).not.toBe(before.startedAt);

      const reboot = await cloud.api.ok('POST', '/instances/second/actions/reboot?project=default', { force: true });
      await cloud.settled(reboot.taskId);
      expect((await cloud.instance('second')).state).toBe('running');
      screen.close();
    },
    3 * minutes,
  );

  stillAndSuspendedCases(() => cloud, vmmPid);
  instanceChangeCases(() => cloud);
  rescueCases(() => cloud);
  attachedDiskCases(() => cloud);

  it(
    'leaves guests alone when an agent dies or its host goes silent',
    async () => {
      const instance = await cloud.instance('second');
      const host = instance.host?.name ?? '';
      const pid = vmmPid(instance);
      const ticksBefore = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21];

      cloud.host(host).signal('SIGSTOP');
      await cloud.hostState(host, 'unknown');
      await eventually('the instance unknown', async () => (await cloud.instance('second')).state === 'unknown');
      cloud.host(host).signal('SIGCONT');
      await cloud.hostState(host, 'ready');
      await eventually('the instance running again', async () => (await cloud.instance('second')).state === 'running');

      await cloud.host(host).end('SIGKILL');
      await cloud.host(host).start();
      await cloud.hostState(host, 'ready');
      expect(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21]).toBe(ticksBefore);
      expect(vmmPid(await cloud.instance('second'))).toBe(pid);
      const screen = await cloud.console('second');
      await screen.ask('echo still $((40 + 2)) here', /still 42 here/);
      screen.close();
    },
    3 * minutes,
  );

  it(
    'shows a guest that powers itself off as stopped',
    async () => {
      const screen = await cloud.console('second');
      screen.type('\npoweroff -f\n');
      await eventually(
        'the instance stopped',
        async () => (await cloud.instance('second')).state === 'stopped',
        60_000,
      );
      expect(await cloud.instance('second')).toMatchObject({ stateReason: 'powered off by its guest' });
      screen.close();
    },
    2 * minutes,
  );

  it(
    'shows a VMM that is killed by hand as an error, and deletes it all the same',
    async () => {
      const start = await cloud.api.ok('POST', '/instances/second/actions/start?project=default');
      await cloud.settled(start.taskId);
      process.kill(vmmPid(await cloud.instance('second')), 'SIGKILL');
      await eventually('the instance in error', async () => (await cloud.instance('second')).state === 'error');
      const gone = await cloud.api.ok('DELETE', '/instances/second?project=default');
      await cloud.settled(gone.taskId);
      expect((await cloud.api.call('GET', '/instances/second?project=default')).status).toBe(404);
    },
    2 * minutes,
  );

  it(
    'ends running or with nothing left when management is killed in the middle of a create',
    async () => {
      const { instance, taskId } = await cloud.create('survivor');
      await eventually(
        'the create under way',
        async () => (await cloud.api.ok('GET', `/tasks/${taskId}`)).state === 'running',
      );
      await cloud.management.end('SIGKILL');
      await cloud.management.start();
      await cloud.login();
      await cloud.settled(taskId);
      expect((await cloud.instance(instance.id)).state).toBe('running');
    },
    3 * minutes,
  );

  it(
    'takes a delete in any state: it preempts a running create',
    async () => {
      const { instance, taskId } = await cloud.create('short-lived');
      const gone = await cloud.api.ok('DELETE', `/instances/${instance.id}`);
      await cloud.settled(gone.taskId);
      expect(['cancelled', 'succeeded']).toContain((await cloud.api.ok('GET', `/tasks/${taskId}`)).state);
      expect((await cloud.api.call('GET', `/instances/${instance.id}`)).status).toBe(404);
    },
    2 * minutes,
  );

  it(
    'works from the command line as written',
    async () => {
      const config = join(keys, 'config.yaml');
      const vcctl = (...args: string[]): string =>
        execFileSync(process.execPath, ['dist/src/vcctl.js', ...args], {
          encoding: 'utf8',
          env: { ...process.env, VCCTL_CONFIG: config },
          timeout: 120_000,
        });
      const { rootFingerprint } = JSON.parse(
        readFileSync(join(cloud.directory, 'management', 'state', 'management', 'tls', 'server.json'), 'utf8'),
      ) as { rootFingerprint: string };
      execFileSync(
        process.execPath,
        [
          'dist/src/vcctl.js',
          'login',
          cloud.api.url,
          '--fingerprint',
          rootFingerprint,
          '--user',
          'admin',
          '--password-stdin',
        ],
        { input: cloud.adminPassword, env: { ...process.env, VCCTL_CONFIG: config } },
      );
      vcctl('flavor', 'create', 'small', '--vcpus', '1', '--memory', '192MiB');
      vcctl('network', 'create', 'n2', '--subnet', '10.10.0.0/24');
      const steps = vcctl(
        'instance',
        'create',
        'web',
        '--flavor',
        'small',
        '--image',
        'linux',
        '--network',
        'n2',
        '--key',
        join(keys, 'id.pub'),
        '--wait',
      );
      expect(steps).toMatch(/Claim a host/);
      expect(steps).toMatch(/running/);
      expect(vcctl('instance', 'list')).toMatch(/web\s+.*running/);
      expect(JSON.parse(vcctl('instance', 'show', 'web', '-o', 'json'))).toMatchObject({
        state: 'running',
        ports: [{ network: 'n2' }],
      });
      expect(vcctl('task', 'list')).toMatch(/instance\.create/);
      // This machine is the guest's host too: vcctl goes through the namespace of its network.
      const answer = await eventually('ssh by vcctl', () => {
        try {
          return vcctl('instance', 'ssh', 'web', '--user', 'root', '-i', join(keys, 'id'), '--', 'hostname');
        } catch {
          return false;
        }
      });
      expect(answer).toBe('web\n');
      vcctl('instance', 'delete', 'web', '--yes', '--wait');
      expect(() => vcctl('instance', 'show', 'web')).toThrow(/not_found/);
    },
    3 * minutes,
  );

  it(
    'leaves nothing behind',
    async () => {
      const { items } = await cloud.api.ok('GET', '/instances');
      for (const instance of items)
        await cloud.settled((await cloud.api.ok('DELETE', `/instances/${instance.id}`)).taskId);
      expect(cloud.leftovers()).toEqual([]);
      const { items: hosts } = await cloud.api.ok('GET', '/hosts');
      for (const host of hosts) expect(host.capacity).toMatchObject({ vcpusUsed: 0, instances: 0 });
      const { items: networks } = await cloud.api.ok('GET', '/networks');
      for (const network of networks) expect(network.addresses.used).toBe(0);
      writeFileSync(join(keys, 'done'), '');
    },
    2 * minutes,
  );

  it('refuses a VMM that there is none of, and places nothing where the one that was asked for does not work', async () => {
    const body = { name: 'odd', flavor: 'tiny', image: 'linux', networks: [{ network: 'n1' }] };
    const ask = (vmm: string, more: object = {}): Promise<{ status: number; body: unknown }> =>
      cloud.api.call('POST', '/instances?project=default', { ...body, vmm, ...more });
    expect(await ask('hyperspace')).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'body.vmm', code: 'unknown_vmm', message: expect.stringContaining('qemu') }] },
    });
    expect(
      await cloud.api.call('POST', '/flavors', { name: 'x', vcpus: 1, memoryBytes: 2 ** 27, vmm: 'hyperspace' }),
    ).toMatchObject({ status: 422, body: { errors: [{ path: 'body.vmm', code: 'unknown_vmm' }] } });
    // Every host has its driver, and none a Cloud Hypervisor.
    expect(await ask('cloud-hypervisor')).toMatchObject({
      status: 409,
      body: { code: 'no_host', hosts: expect.arrayContaining([expect.objectContaining({ code: 'vmm' })]) },
    });
    await cloud.api.ok('POST', '/flavors', { name: 'on-qemu', vcpus: 1, memoryBytes: 2 ** 27, vmm: 'qemu' });
    expect(await ask('cloud-hypervisor', { flavor: 'on-qemu' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'body.vmm', code: 'other_vmm_of_flavor' }] },
    });
    const image = await cloud.api.ok('POST', '/images?project=default', { name: 'for-ch', vmm: 'cloud-hypervisor' });
    const bytes = Buffer.alloc(2 ** 20);
    bytes.writeUInt16LE(0xaa55, 510);
    await cloud.api.ok('PUT', `/images/${image.id}/content`, bytes);
    // The image asks, for whoever says nothing; and against who says something else.
    const from = { ...body, image: 'for-ch' };
    expect(await cloud.api.call('POST', '/instances?project=default', from)).toMatchObject({
      status: 409,
      body: { code: 'no_host', hosts: expect.arrayContaining([expect.objectContaining({ code: 'vmm' })]) },
    });
    expect(await cloud.api.call('POST', '/instances?project=default', { ...from, flavor: 'on-qemu' })).toMatchObject({
      status: 422,
      body: { errors: [{ path: 'body.image', code: 'other_vmm_of_image' }] },
    });
    await cloud.api.ok('PATCH', `/images/${image.id}`, { vmm: 'qemu' });
    expect(
      await cloud.api.call('POST', '/instances?project=default', {
        ...from,
        flavor: 'on-qemu',
        vmm: 'cloud-hypervisor',
      }),
    ).toMatchObject({ status: 422, body: { errors: [{ path: 'body.vmm' }] } });
  });

  it('said nothing between management and hosts that a side of 0.1.0 would not have understood', () => {
    const { checked, misfits } = older.findings();
    // Verbs that came later: told only to hosts that say that they know them.
    const later = ['instance.disks', 'instance.nmi', 'instance.pause', 'instance.suspend', 'volume.grow'].map(
      (verb) => `args ${verb}: the verb "${verb}" is not of 0.1.0`,
    );
    // Metadata of instances, options of their machines, those in rescue, and networks with subnets and routers of their
    // own: of newer revisions, told in the same way.
    const newer = [
      'args instance.ensure: data/spec must NOT have additional properties',
      'args instance.ensure: data/spec/disks/1 must NOT have additional properties',
      'args instance.seed: data must NOT have additional properties',
      'args network.apply: data must NOT have additional properties',
      'args network.apply: data/networks/0 must NOT have additional properties',
      ...['dns', 'gateway', 'nat', 'subnet'].map(
        (field) => `args network.apply: data/networks/0 must have required property '${field}'`,
      ),
      'args network.apply: data/networks/0/ports/0 must NOT have additional properties',
      "args network.apply: data/networks/0/ports/0 must have required property 'address'",
    ];
    expect([...new Set(misfits)].sort()).toEqual([...later, ...newer].sort());
    expect(checked).toEqual(
      expect.arrayContaining([
        'args instance.ensure',
        'result instance.ensure',
        'section inventory',
        'section instances',
      ]),
    );
  });
});
