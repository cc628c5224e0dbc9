import { injectable } from 'inversify';
import { access, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { StatePaths } from '../../../../../core/config/state-paths';
import { isRunning, processStartTime, signalProcess, waitGone, type ProcessIdentity } from '../../../../../core/host/process-identity';
import { execIn, netnsInode } from './netns';
import type { WantedDhcp } from './plan';

const read = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);
const lines = (text: string): string[] => text.split('\n').filter((l) => l !== '');

/**
 * One dnsmasq per network and host, DHCP only. It is a daemon of its own: it outlives the agent and is adopted again, by pid, start time and
 * namespace. Its leases are never the truth: the hosts file is, and the lease file is thrown away whenever it could contradict.
 */
@injectable()
export class DnsmasqSupervisor {
  constructor(private readonly paths: StatePaths) {}

  private dir(networkId: string): string {
    return this.paths.runDir('network', networkId);
  }

  /** Makes the server run with this configuration and hosts. New hosts cost a signal; a gone or changed host costs a restart, for its lease would block the address. */
  async ensure(wanted: WantedDhcp): Promise<void> {
    const dir = this.dir(wanted.networkId);
    const config = this.configuration(dir, wanted, await this.user(dir));
    const hosts = `${wanted.hosts.join('\n')}\n`;
    const running = await this.running(wanted.networkId, wanted.netns);
    const [oldConfig, oldHosts] = await Promise.all([read(join(dir, 'dnsmasq.conf')), read(join(dir, 'hosts'))]);
    if (running && oldConfig === config && oldHosts !== null) {
      if (oldHosts === hosts) return;
      const kept = new Set(wanted.hosts);
      if (lines(oldHosts).every((line) => kept.has(line))) {
        await writeFileAtomic(join(dir, 'hosts'), hosts, { mode: 0o644, fsync: false });
        signalProcess(running, 'SIGHUP');
        return;
      }
    }
    await this.stop(wanted.networkId);
    await mkdir(dir, { recursive: true, mode: 0o755 });
    await writeFile(join(dir, 'dnsmasq.conf'), config);
    await writeFile(join(dir, 'hosts'), hosts, { mode: 0o644 });
    await execIn(wanted.netns, 'dnsmasq', ['-C', join(dir, 'dnsmasq.conf')]);
    const pid = Number((await read(join(dir, 'pid')))?.trim());
    const startTime = Number.isInteger(pid) ? processStartTime(pid) : null;
    if (startTime === null) throw new Error(`dnsmasq ended at once: ${((await read(join(dir, 'log'))) ?? '').trim().slice(-500)}`);
    await writeFileAtomic(join(dir, 'process.json'), JSON.stringify({ pid, startTime } satisfies ProcessIdentity), { fsync: false });
  }

  /** Ends a network's server and removes its files. */
  async stop(networkId: string): Promise<void> {
    const process = await this.recorded(networkId);
    if (process && signalProcess(process, 'SIGTERM') && !(await waitGone(process, 2000))) {
      signalProcess(process, 'SIGKILL');
      await waitGone(process, 2000);
    }
    await rm(this.dir(networkId), { recursive: true, force: true });
  }

  /** Networks that have files here, running or not. */
  async known(): Promise<string[]> {
    return readdir(this.paths.runDir('network')).catch(() => []);
  }

  private async recorded(networkId: string): Promise<ProcessIdentity | null> {
    const text = await read(join(this.dir(networkId), 'process.json'));
    if (text !== null) return JSON.parse(text) as ProcessIdentity;
    // The agent died between the start and its record: the pid file counts if the process has our configuration file.
    const pid = Number((await read(join(this.dir(networkId), 'pid')))?.trim());
    if (!Number.isInteger(pid) || pid <= 1) return null;
    const command = (await read(`/proc/${pid}/cmdline`)) ?? '';
    const startTime = processStartTime(pid);
    return startTime !== null && command.split('\0').includes(join(this.dir(networkId), 'dnsmasq.conf')) ? { pid, startTime } : null;
  }

  private async running(networkId: string, netns: string): Promise<ProcessIdentity | null> {
    const process = await this.recorded(networkId);
    if (!process || !isRunning(process)) return null;
    const own = /\d+/.exec(await readlink(`/proc/${process.pid}/ns/net`).catch(() => ''))?.[0];
    return own !== undefined && Number(own) === (await netnsInode(netns)) ? process : null;
  }

  private configuration(dir: string, wanted: WantedDhcp, user: string): string {
    return [
      ...wanted.config,
      `dhcp-hostsfile=${join(dir, 'hosts')}`,
      `dhcp-leasefile=${join(dir, 'leases')}`,
      `pid-file=${join(dir, 'pid')}`,
      `log-facility=${join(dir, 'log')}`,
      `user=${user}`,
      'no-hosts',
      'no-resolv',
      '',
    ].join('\n');
  }

  /** Unprivileged unless that user could not read the hosts file again on a signal, because a folder above it is closed. */
  private async user(dir: string): Promise<string> {
    for (let at = dirname(dir); ; at = dirname(at)) {
      const mode = (await stat(at).catch(() => null))?.mode;
      if (mode !== undefined && (mode & 0o001) === 0) return 'root';
      if (at === dirname(at)) break;
    }
    return (await access('/etc/passwd').then(() => read('/etc/passwd')))?.includes('\ndnsmasq:') ? 'dnsmasq' : 'nobody';
  }
}
