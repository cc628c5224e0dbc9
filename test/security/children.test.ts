import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TestCloud } from '../support/cloud';
import { repositoryRoot } from '../support/repository';

const minutes = 60_000;
/** net_bind_service, net_admin, net_raw. */
const dhcpCapabilities = '0000000000003400';
const none = '0000000000000000';
/** Where Node is not one of the system's programs. */
const nodeTree = ['lib', 'libexec', 'share'].map((name) => join(dirname(process.execPath), '..', name));
/** Kept apart from what any other test on this machine uses. */
const range = { first: 1_910_000_000, count: 1_000 };

interface Child {
  pid: number;
  command: string;
  status: Map<string, string>;
  ids: (name: 'Uid' | 'Gid' | 'Groups') => number[];
}

const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

const childOf = async (pid: number): Promise<Child | null> => {
  const command = (await read(`/proc/${pid}/cmdline`)).split('\0').join(' ').trim();
  const status = new Map(
    (await read(`/proc/${pid}/status`))
      .split('\n')
      .map((line): [string, string] => [line.split(':')[0] ?? '', line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (command === '' || status.size < 10) return null;
  return {
    pid,
    command,
    status,
    ids: (name) =>
      (status.get(name) ?? '')
        .split(/\s+/)
        .filter((word) => word !== '')
        .map(Number),
  };
};

const children = async (matches: (command: string) => boolean): Promise<Child[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => childOf(pid)));
  return found.filter((child): child is Child => child !== null && matches(child.command));
};

/**
 * Files and folders that a process sees, apart from `known` and what every sandbox has: the system's programs, the
 * kernel's views and the harmless devices.
 */
const visible = async (pid: number, known: readonly string[] = []): Promise<string[]> => {
  const found: string[] = [];
  const walk = async (path: string): Promise<void> => {
    for (const entry of await readdir(`/proc/${pid}/root${path}`, { withFileTypes: true })) {
      const at = join(path, entry.name);
      if (['/usr', '/proc', '/dev', '/sys', '/etc/alternatives', ...known].includes(at)) continue;
      if (entry.isDirectory()) await walk(at);
      else if (!entry.isSymbolicLink() || path !== '/') found.push(at);
    }
  };
  await walk('/');
  return found.sort();
};

const namespaces = async (pid: number | 'self', kinds: readonly string[]): Promise<string[]> =>
  Promise.all(kinds.map((kind) => readlink(`/proc/${pid}/ns/${kind}`)));

/** Nobody's, with nothing and no way to more. */
const expectNoRights = ({ status, ids }: Child, capabilities = none): void => {
  const [user] = ids('Uid');
  expect(user).toBeGreaterThan(0);
  expect(new Set(ids('Uid'))).toEqual(new Set([user]));
  expect(new Set(ids('Gid')).size).toBe(1);
  expect(ids('Gid')).not.toContain(0);
  expect(ids('Groups')).not.toContain(0);
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
    expect([set, status.get(set)]).toEqual([set, capabilities]);
  expect(status.get('NoNewPrivs')).toBe('1');
};

const expectOwnNamespaces = async ({ pid }: Child, kinds: readonly string[]): Promise<void> => {
  const [own, ours] = await Promise.all([namespaces(pid, kinds), namespaces('self', kinds)]);
  for (const [n, name] of own.entries()) expect(name).not.toBe(ours[n]);
};

describe('every child that handles what strangers gave', () => {
  let cloud: TestCloud;
  const instances: string[] = [];

  beforeAll(async () => {
    const env = { VC_STACK_SANDBOX__FIRST_USER: String(range.first), VC_STACK_SANDBOX__USERS: String(range.count) };
    cloud = await TestCloud.start('secchild', { hosts: ['h1'], managementEnv: env, computeEnv: env });
    await cloud.furnish();
    for (const name of ['one', 'two']) {
      const { instance, taskId } = await cloud.create(name);
      await cloud.settled(taskId);
      instances.push(instance.id);
    }
  }, 4 * minutes);
  afterAll(async () => cloud?.close(), 2 * minutes);

  const vmmOf = async (instanceId: string): Promise<Child> => {
    const record = JSON.parse(
      await readFile(join(cloud.stateOf('h1'), 'instances', instanceId, 'instance.json'), 'utf8'),
    ) as { user: number; handle: { user: number; process: { pid: number } } };
    const child = await childOf(record.handle.process.pid);
    if (!child) throw new Error(`no process ${record.handle.process.pid}`);
    expect(child.command).toContain('qemu-system-x86_64');
    expect(child.ids('Uid')[0]).toBe(record.user);
    expect(record.handle.user).toBe(record.user);
    return child;
  };

  it('virtual machines: a user of their own each, of the configured range, with no right at all and the system calls filtered', async () => {
    const vmms = await Promise.all(instances.map((id) => vmmOf(id)));
    for (const vmm of vmms) {
      expectNoRights(vmm);
      expect(vmm.status.get('Seccomp')).toBe('2');
      // The group of the taps, and where there is a KVM that of its device.
      expect(vmm.ids('Groups')).toContain(range.first + 3);
      expect(vmm.ids('Groups').length).toBeLessThanOrEqual(2);
      const [user = 0] = vmm.ids('Uid');
      expect(user).toBeGreaterThanOrEqual(range.first + 16);
      expect(user).toBeLessThan(range.first + range.count);
    }
    expect(new Set(vmms.map((vmm) => vmm.ids('Uid')[0])).size).toBe(vmms.length);
  });

  it('virtual machines: namespaces of their own, the first process of theirs, and beside each only who waits for its end, without rights', async () => {
    const [one, two] = await Promise.all(instances.map((id) => vmmOf(id)));
    if (!one || !two) throw new Error('two are needed');
    const kinds = ['pid', 'mnt', 'ipc', 'uts', 'net'];
    for (const vmm of [one, two]) {
      await expectOwnNamespaces(vmm, kinds);
      expect(vmm.status.get('NSpid')?.split(/\s+/).at(-1)).toBe('1');
      expect((await readdir(`/proc/${vmm.pid}/root/proc`)).filter((name) => /^\d+$/.test(name))).toEqual(['1']);
    }
    const [first, second] = await Promise.all([namespaces(one.pid, kinds), namespaces(two.pid, kinds)]);
    for (const [n, name] of first.entries()) expect(name).not.toBe(second[n]);
    const waiting = await children((command) => command.includes('bwrap') && command.includes(cloud.directory));
    expect(waiting.map(({ status }) => [status.get('CapEff'), status.get('CapPrm'), status.get('NoNewPrivs')])).toEqual(
      instances.map(() => ['0000000000000000', '0000000000000000', '1']),
    );
  });

  it('virtual machines: see their disk and their sockets, and nothing else of the machine', async () => {
    for (const id of instances) {
      const { pid } = await vmmOf(id);
      const [user = 0] = (await vmmOf(id)).ids('Uid');
      const files = (await visible(pid)).filter((path) => path !== '/etc/ld.so.cache');
      const sockets = files.filter((path) => path.endsWith('.sock'));
      const disks = files.filter((path) => path.endsWith('.raw'));
      expect(sockets.map((path) => path.split('/').at(-1))).toEqual([
        'agent.sock',
        'events.sock',
        'qmp.sock',
        'serial.sock',
        'vnc.sock',
      ]);
      expect(sockets.every((path) => path.includes(`/i/${id}/s/`))).toBe(true);
      expect(disks).toHaveLength(1);
      expect(files).toHaveLength(6);
      expect(statSync(`/proc/${pid}/root${disks[0] ?? ''}`)).toMatchObject({ uid: user, gid: user });
      expect((await readdir(`/proc/${pid}/root/dev`)).sort()).toEqual(
        expect.not.arrayContaining(['vda', 'sda', 'nvme0', 'mem', 'disk', 'loop0']),
      );
      expect(await readdir(`/proc/${pid}/root`)).toEqual(
        expect.not.arrayContaining(['root', 'home', 'boot', 'mnt', 'opt', 'srv']),
      );
    }
  });

  it(
    'virtual machines: are the same after a restart of the agent, and have the same user after a stop and a start',
    async () => {
      const [id = ''] = instances;
      const before = await vmmOf(id);
      await cloud.host('h1').end('SIGKILL');
      await cloud.host('h1').start();
      await cloud.hostState('h1', 'ready');
      const adopted = await vmmOf(id);
      expect([adopted.pid, adopted.ids('Uid')]).toEqual([before.pid, before.ids('Uid')]);
      for (const action of ['stop', 'start'] as const) {
        const { taskId } = await cloud.api.ok(
          'POST',
          `/instances/${id}/actions/${action}?project=default`,
          action === 'stop' ? { force: true } : {},
        );
        await cloud.settled(taskId);
      }
      const again = await vmmOf(id);
      expect(again.pid).not.toBe(before.pid);
      expect(again.ids('Uid')).toEqual(before.ids('Uid'));
    },
    3 * minutes,
  );

  it('DHCP servers: only the rights over the network of their namespace, and their own files', async () => {
    const servers = await children((command) => command.startsWith('dnsmasq') && command.includes(cloud.directory));
    expect(servers).toHaveLength(1);
    for (const server of servers) {
      expectNoRights(server, dhcpCapabilities);
      expect(server.ids('Uid')[0]).toBe(range.first + 1);
      expect(server.ids('Groups')).toEqual([]);
      await expectOwnNamespaces(server, ['pid', 'mnt', 'ipc', 'net']);
      const names = (await visible(server.pid))
        .filter((path) => path !== '/etc/ld.so.cache')
        .map((path) => path.split('/network/')[1]?.split('/').slice(1).join('/'));
      expect(names.sort()).toEqual(['dnsmasq.conf', 'hosts', 'log', 'own/leases', 'own/pid', 'process.json']);
    }
  });

  it('the embedded database: its user, and no way to another', async () => {
    const servers = (await children((command) => command.includes('postgres'))).filter(({ command }) =>
      command.includes(join(cloud.directory, 'management')),
    );
    expect(servers.length).toBeGreaterThan(0);
    for (const server of servers) expectNoRights(server);
  });

  it(
    'the converter and the reader of images: nobody, without network, with the one image to be seen',
    async () => {
      const directory = mkdtempSync('/tmp/vcs-secimg-');
      const [plain, image] = [join(directory, 'plain.raw'), join(directory, 'packed.qcow2')];
      const { id } = await cloud.api.ok('POST', '/images?project=default', { name: 'packed' });
      const converters = (): Promise<Child[]> =>
        children((command) => command.startsWith('qemu-img convert') && command.includes(cloud.directory));
      try {
        // Small to send, and long enough to unfold.
        const file = openSync(plain, 'w');
        for (let n = 0; n < 1024; n += 1) writeSync(file, Buffer.alloc(2 ** 20, `block ${n} `));
        closeSync(file);
        execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', '-c', plain, image]);
        let over = false;
        const upload = cloud.api
          .call('PUT', `/images/${id}/content`, readFileSync(image))
          .catch(() => null)
          .finally(() => (over = true));
        let found: Child[] = [];
        while (found.length === 0 && !over) found = await converters();
        const [converter] = found;
        if (!converter) throw new Error('the conversion was over before it was seen');
        process.kill(converter.pid, 'SIGSTOP');
        try {
          expectNoRights(converter);
          expect(converter.ids('Uid')[0]).toBe(range.first);
          expect(converter.ids('Groups')).toEqual([]);
          await expectOwnNamespaces(converter, ['pid', 'mnt', 'ipc', 'uts', 'net']);
          const files = (await visible(converter.pid)).filter((path) => path !== '/etc/ld.so.cache');
          expect(files.length).toBeGreaterThan(0);
          expect(files.length).toBeLessThanOrEqual(2);
          expect(files.every((path) => path.includes(id))).toBe(true);
        } finally {
          process.kill(converter.pid, 'SIGCONT');
        }
        // What it unfolded is hashed. Until its first byte this one is root, for the sake of code that root alone may
        // read, and has no right but to cease to be.
        const readers = (): Promise<Child[]> =>
          children((command) => command.startsWith(process.execPath) && command.includes('bytes-child'));
        let reader: Child | undefined;
        while (!reader && !over) reader = (await readers()).find(({ ids }) => ids('Uid')[0] === range.first);
        if (!reader) throw new Error('the hashing was over before it was seen');
        process.kill(reader.pid, 'SIGSTOP');
        try {
          expect(new Set(reader.ids('Uid'))).toEqual(new Set([range.first]));
          expect(new Set(reader.ids('Gid'))).toEqual(new Set([range.first]));
          expect(reader.ids('Groups')).toEqual([]);
          for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
            expect([set, reader.status.get(set)]).toEqual([set, none]);
          expect(reader.status.get('NoNewPrivs')).toBe('1');
          await expectOwnNamespaces(reader, ['pid', 'mnt', 'ipc', 'uts', 'net']);
          const code = ['dist', 'node_modules', 'package.json'].map((name) => join(repositoryRoot, name));
          expect(
            (await visible(reader.pid, [...code, dirname(process.execPath), ...nodeTree])).filter(
              (path) => path !== '/etc/ld.so.cache',
            ),
          ).toEqual([]);
        } finally {
          process.kill(reader.pid, 'SIGCONT');
        }
        await upload;
        expect(await converters()).toEqual([]);
        expect(await readers()).toEqual([]);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
    2 * minutes,
  );
});
