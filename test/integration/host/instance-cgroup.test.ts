import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import {
  changeLimits,
  instanceCgroups,
  makeCgroup,
  oomKills,
  removeCgroup,
} from '../../../src/core/host/processes/cgroup';
import { systemdRuns, unitOf } from '../../../src/core/host/processes/instance-unit';
import { oomKillReported } from '../../../src/core/host/processes/kernel-report';
import { waitFor } from '../../support/wait-for';

jest.setTimeout(120_000);

const mebibyte = 2 ** 20;
const whole = existsSync('/sys/fs/cgroup/cgroup.controllers');

/** Where the processes of an instance are held, on a machine whose control groups are all of version 2. */
(whole ? describe : describe.skip)('the cgroup of an instance, on a host with cgroup v2', () => {
  const ids: string[] = [];
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    for (const id of ids.splice(0)) await removeCgroup(id);
  });

  const program = (script: string): ChildProcess & { pid: number } => {
    const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'] });
    children.push(child);
    if (child.pid === undefined) throw new Error('it did not begin');
    return child as ChildProcess & { pid: number };
  };
  const placed = async (
    id: string,
    script: string,
    memoryBytes = 64 * mebibyte,
  ): Promise<ChildProcess & { pid: number }> => {
    if (!ids.includes(id)) ids.push(id);
    const child = program(script);
    const place = await makeCgroup(id, { memoryBytes, vcpus: 2 });
    expect(await place(child.pid)).toEqual({ enforced: true, reason: '' });
    return child;
  };
  const groupOf = (pid: number): string =>
    `/sys/fs/cgroup${readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('::')[1] ?? ''}`;
  const end = async (child: ChildProcess): Promise<void> => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  const limit = (pid: number, name: string): string => readFileSync(`${groupOf(pid)}/${name}`, 'utf8').trim();

  it('has limits of memory, processors and processes, and weights by its vCPUs', async () => {
    const { pid } = await placed(randomUUID(), 'sleep 600');
    expect(limit(pid, 'memory.max')).toBe(String((64 + 256) * mebibyte));
    expect(limit(pid, 'memory.oom.group')).toBe('1');
    expect(limit(pid, 'cpu.max')).toBe('200000 100000');
    expect(limit(pid, 'cpu.weight')).toBe('200');
    expect(limit(pid, 'pids.max')).toBe(String(512 + 16));
  });

  it('has no memory for huge pages, unless the kernel counts them', async () => {
    const id = randomUUID();
    ids.push(id);
    const child = program('sleep 600');
    const place = await makeCgroup(id, { memoryBytes: 0, hugePageBytes: 64 * mebibyte, vcpus: 2 });
    expect(await place(child.pid)).toEqual({ enforced: true, reason: '' });
    const counted = /^\S+ \S+ cgroup2 \S*memory_hugetlb_accounting/m.test(readFileSync('/proc/self/mounts', 'utf8'));
    expect(limit(child.pid, 'memory.max')).toBe(String((counted ? 64 + 256 : 256) * mebibyte));
  });

  it('gets other limits while it runs, and none where there is no group', async () => {
    const id = randomUUID();
    await changeLimits(id, { memoryBytes: mebibyte, vcpus: 1 });
    const { pid } = await placed(id, 'sleep 600');
    await changeLimits(id, { memoryBytes: 192 * mebibyte, vcpus: 3 });
    // systemd answers when it has taken the request.
    await waitFor('the new limits', () => limit(pid, 'memory.max') === String((192 + 256) * mebibyte));
    expect(limit(pid, 'cpu.max')).toBe('300000 100000');
    expect(limit(pid, 'cpu.weight')).toBe('300');
    expect(limit(pid, 'pids.max')).toBe(String(512 + 24));
  });

  it('holds two processes of one machine, is seen, and is gone with them, for the next start to make it anew', async () => {
    const id = randomUUID();
    for (let round = 0; round < 3; round += 1) {
      const [one, two] = [await placed(id, 'sleep 600'), await placed(id, 'sleep 600')];
      expect(groupOf(two.pid)).toBe(groupOf(one.pid));
      expect(await instanceCgroups()).toContainEqual({ instanceId: id, inode: expect.any(Number), populated: true });
      const group = groupOf(one.pid);
      await end(one);
      await end(two);
      await removeCgroup(id);
      expect(existsSync(group)).toBe(false);
      await removeCgroup(id);
    }
    expect((await instanceCgroups()).map(({ instanceId }) => instanceId)).not.toContain(id);
  });

  it('tells that the kernel ended what took more memory than it may', async () => {
    const id = randomUUID();
    const since = (Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) - 1) * 1_000_000;
    // It reads into a memory twice as large as it may have.
    const hog = await placed(id, 'read -r go; exec dd if=/dev/zero of=/dev/null bs=700M count=1', 64 * mebibyte);
    const gone = once(hog, 'exit');
    hog.stdin?.end('\n');
    expect((await gone)[1]).toBe('SIGKILL');
    const counted = await oomKills(id);
    if (counted !== null) expect(counted).toBeGreaterThan(0);
    // systemd removes the group with its last process; what the kernel said stays.
    else await waitFor('the kernel’s report', () => oomKillReported(process.getuid?.() ?? 0, since));
  });

  (systemdRuns() ? describe : describe.skip)('under systemd', () => {
    const show = (id: string, name: string): string =>
      execFileSync('systemctl', ['show', '--value', `--property=${name}`, unitOf(id)], { encoding: 'utf8' }).trim();

    it('is that of a transient unit with its name and its limits', async () => {
      const id = randomUUID();
      const child = await placed(id, 'sleep 600');
      expect(groupOf(child.pid)).toMatch(new RegExp(`vcstack\\.slice/vc-stack-instance-${id}\\.scope$`));
      expect(show(id, 'Description')).toBe(`Instance ${id} of VC Stack`);
      expect(show(id, 'ActiveState')).toBe('active');
      expect(show(id, 'MemoryMax')).toBe(String((64 + 256) * mebibyte));
      expect(show(id, 'CPUQuotaPerSecUSec')).toBe('2s');
      await end(child);
      await waitFor('the end of the unit', () => show(id, 'LoadState') === 'not-found');
    });

    it('lives on when the service that it was started by is stopped', async () => {
      const id = randomUUID();
      const service = `t-agent-${id}.service`;
      execFileSync('systemd-run', ['--quiet', `--unit=${service}`, 'sh', '-c', 'sleep 601 & sleep 602']);
      const group = execFileSync('systemctl', ['show', '--value', '--property=ControlGroup', service], {
        encoding: 'utf8',
      });
      const pids = (): number[] =>
        readFileSync(`/sys/fs/cgroup${group.trim()}/cgroup.procs`, 'utf8').trim().split('\n').map(Number);
      const guest = await waitFor('its child', () =>
        pids().find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep\u0000601')),
      );
      ids.push(id);
      try {
        expect(await (await makeCgroup(id, { memoryBytes: mebibyte, vcpus: 1 }))(guest)).toMatchObject({
          enforced: true,
        });
        execFileSync('systemctl', ['stop', service]);
        expect(readFileSync(`/proc/${guest}/cmdline`, 'utf8')).toContain('601');
      } finally {
        process.kill(guest, 'SIGKILL');
        await waitFor('its end', () => !existsSync(`/proc/${guest}`));
      }
    });
  });
});
