import { injectable } from 'inversify';
import { chown, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { Config } from '../../../../../core/config/config';
import { StatePaths } from '../../../../../core/config/state-paths';
import { endProcessesNaming } from '../../../../../core/host/processes/processes-naming';
import {
  isRunning,
  signalProcess,
  waitGone,
  type ProcessIdentity,
} from '../../../../../core/host/processes/process-identity';
import { formatRecord, parseRecord, type RecordForm } from '../../../../../core/host/records/record-form';
import { sandboxUsers } from '../../../../../core/host/sandbox/sandbox-users';
import { readTail, spawnSandboxed } from '../../../../../core/host/sandbox/spawn-sandboxed';
import { netnsInode } from './netns';
import type { WantedDhcp } from './dhcp-plan';

const read = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);
/** Its process. One that cannot be read is ended by what its command line names. */
const processForm: RecordForm<ProcessIdentity> = {
  name: 'record of a DHCP server',
  version: 1,
  schema: z.object({ pid: z.number().int(), startTime: z.string() }),
  upgrades: {},
};
/** Milliseconds. */
const startDeadline = 10_000;
const lines = (text: string): string[] => text.split('\n').filter((l) => l !== '');

/**
 * One dnsmasq per network and host, DHCP only. It outlives the agent and is adopted again, by pid, start time and
 * namespace. It reads what guests send, so it is shut in: a user of its own, its own files, and of root's rights those
 * over the network of its namespace. Its leases are never the truth: the hosts file is, and the lease file is thrown
 * away whenever it could contradict.
 */
@injectable()
export class DnsmasqSupervisor {
  constructor(
    private readonly paths: StatePaths,
    private readonly config: Config,
  ) {}

  private dir(networkId: string): string {
    return this.paths.runDir('network', networkId);
  }

  /**
   * Makes the server run with this configuration and hosts. New hosts cost a signal; a gone or changed host costs a
   * restart, for its lease would block the address.
   */
  async ensure(wanted: WantedDhcp): Promise<void> {
    const dir = this.dir(wanted.networkId);
    const config = this.configuration(dir, wanted);
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
    await this.launch(dir, wanted.netns);
  }

  private async launch(dir: string, netns: string): Promise<void> {
    const own = join(dir, 'own');
    const user = sandboxUsers(this.config.core.sandbox).dhcp;
    await mkdir(own, { mode: 0o700 });
    await chown(own, user, user);
    const sandbox = {
      user,
      readOnly: [dir],
      writable: [own],
      capabilities: ['net_admin', 'net_raw', 'net_bind_service'],
    };
    const started = await spawnSandboxed('dnsmasq', ['--keep-in-foreground', '-C', join(dir, 'dnsmasq.conf')], {
      netns,
      logFile: join(dir, 'log'),
      sandbox,
    });
    await writeFileAtomic(join(dir, 'process.json'), formatRecord(processForm, started.process), {
      fsync: false,
    });
    // It writes that file when it has its sockets.
    for (const end = Date.now() + startDeadline; (await read(join(own, 'pid'))) === null; await delay(5)) {
      if (started.hasEnded())
        throw new Error(`dnsmasq ended at once: ${(await readTail(join(dir, 'log'))).slice(-500)}`);
      if (Date.now() >= end) throw new Error(`dnsmasq was not ready after ${startDeadline / 1000} s`);
    }
    started.release();
  }

  /** Ends a network's server and removes its files. */
  async stop(networkId: string): Promise<void> {
    const process = await this.recorded(networkId);
    if (process && signalProcess(process, 'SIGTERM') && !(await waitGone(process, 2000))) {
      signalProcess(process, 'SIGKILL');
      await waitGone(process, 2000);
    }
    // The agent died between the start and its record.
    if (!process && (await read(join(this.dir(networkId), 'dnsmasq.conf'))) !== null)
      await endProcessesNaming(this.dir(networkId));
    await rm(this.dir(networkId), { recursive: true, force: true });
  }

  /** Networks that have files here, running or not. */
  async known(): Promise<string[]> {
    return readdir(this.paths.runDir('network')).catch(() => []);
  }

  private async recorded(networkId: string): Promise<ProcessIdentity | null> {
    const text = await read(join(this.dir(networkId), 'process.json'));
    if (text === null) return null;
    const reading = parseRecord(processForm, text);
    return reading.kind === 'read' ? reading.value : null;
  }

  private async running(networkId: string, netns: string): Promise<ProcessIdentity | null> {
    const process = await this.recorded(networkId);
    if (!process || !isRunning(process)) return null;
    const own = /\d+/.exec(await readlink(`/proc/${process.pid}/ns/net`).catch(() => ''))?.[0];
    return own !== undefined && Number(own) === (await netnsInode(netns)) ? process : null;
  }

  /** What it writes is in a folder of its own, where it can put nothing that we would follow. */
  private configuration(dir: string, wanted: WantedDhcp): string {
    const own = join(dir, 'own');
    return [
      ...wanted.config,
      `dhcp-hostsfile=${join(dir, 'hosts')}`,
      `dhcp-leasefile=${join(own, 'leases')}`,
      `pid-file=${join(own, 'pid')}`,
      'log-facility=-',
      // It has no account, and nothing to let go of.
      'user=',
      'group=',
      'no-hosts',
      'no-resolv',
      '',
    ].join('\n');
  }
}
