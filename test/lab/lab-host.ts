import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port';
import { sh } from '../support/namespaces';

const run = promisify(execFile);

export interface LabParts {
  /** Folder of `build-host`. */
  host: string;
  qemu: string;
  /** Disk that is mounted at `/opt/vc-stack`. */
  product: string;
  /** Where its overlay, socket and logs go. */
  directory: string;
}

const bootSeconds = 240;
const memoryMiB = 4096;
/** What a command may print. */
const outputBytes = 64 * 2 ** 20;

/**
 * A whole Debian host with a KVM that works, in QEMU's software emulation. One processor: with two, nested guests lock it
 * up at times. It has no network but for its ssh, forwarded from this machine's loopback.
 */
export class LabHost {
  private constructor(
    private readonly parts: LabParts,
    private readonly qemu: ChildProcess,
    private readonly sshPort: number,
  ) {}

  /** Resolves when its systemd has started all that it should. */
  static async boot(parts: LabParts): Promise<LabHost> {
    const { host, directory } = parts;
    const overlay = join(directory, 'overlay.qcow2');
    sh('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', join(host, 'root.img'), '-F', 'raw', overlay);
    const sshPort = await freePort();
    const disk = (file: string, format: string): string[] => [
      '-drive',
      `file=${file},format=${format},if=virtio,cache=unsafe,discard=unmap`,
    ];
    const qemu = spawn(
      parts.qemu,
      [
        ...['-name', 'vcs-lab', '-M', 'q35', '-accel', 'tcg,tb-size=1024', '-cpu', 'EPYC,+svm,+npt', '-smp', '1'],
        ...['-m', String(memoryMiB), '-display', 'none', '-nodefaults', '-no-reboot'],
        ...['-kernel', join(host, 'vmlinuz'), '-initrd', join(host, 'initrd.img')],
        ...['-append', 'root=/dev/vda rw console=ttyS0 loglevel=4 mitigations=off systemd.show_status=0'],
        ...disk(overlay, 'qcow2'),
        ...disk(parts.product, 'raw'),
        ...['-device', 'virtio-rng-pci', '-device', 'virtio-net-pci,netdev=n0,romfile='],
        '-netdev',
        `user,id=n0,restrict=on,hostfwd=tcp:127.0.0.1:${sshPort}-:22`,
        ...['-serial', `file:${join(directory, 'console.log')}`],
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    // Also when this process ends before the lab is up.
    process.once('exit', () => qemu.kill('SIGKILL'));
    const lab = new LabHost(parts, qemu, sshPort);
    try {
      await lab.answers();
      // `degraded`: a unit of Debian's that a lab has no need of failed.
      await lab.sh('systemctl is-system-running --wait || systemctl --failed --no-legend', bootSeconds * 1000);
      return lab;
    } catch (error) {
      await lab.close();
      throw error;
    }
  }

  /** Standard output of a shell command there. Throws with the end of what it printed when it fails or is late. */
  async sh(command: string, timeoutMs = 120_000): Promise<string> {
    try {
      const { stdout } = await run('ssh', [...this.sshOptions(), 'root@127.0.0.1', command], {
        timeout: timeoutMs,
        encoding: 'utf8',
        maxBuffer: outputBytes,
      });
      return stdout.trim();
    } catch (error) {
      const {
        stdout = '',
        stderr = '',
        killed = false,
        code,
      } = error as Partial<Record<'stdout' | 'stderr', string>> & {
        killed?: boolean;
        code?: number;
      };
      const why = killed ? `not done after ${timeoutMs / 1000} s` : `ended with ${code ?? '?'}`;
      throw new Error(`${command.slice(0, 80)}: ${why}: ${`${stdout}\n${stderr}`.trim().slice(-1500)}`, {
        cause: error,
      });
    }
  }

  async close(): Promise<void> {
    if (this.qemu.exitCode !== null || this.qemu.signalCode !== null) return;
    const gone = new Promise((resolve) => this.qemu.once('exit', resolve));
    await run('ssh', [...this.sshOptions(), '-O', 'exit', 'root@127.0.0.1']).catch(() => undefined);
    this.qemu.kill('SIGKILL');
    await gone;
    rmSync(join(this.parts.directory, 'overlay.qcow2'), { force: true });
  }

  private async answers(): Promise<void> {
    const end = Date.now() + bootSeconds * 1000;
    for (;;) {
      if (this.qemu.exitCode !== null) throw new Error(`the lab host's QEMU ended with ${this.qemu.exitCode}`);
      if (
        await this.sh('true', 30_000).then(
          () => true,
          () => false,
        )
      )
        return;
      if (Date.now() > end)
        throw new Error(`the lab host does not answer after ${bootSeconds} s: ${this.consoleTail()}`);
      await delay(1000);
    }
  }

  private consoleTail(): string {
    const log = join(this.parts.directory, 'console.log');
    return existsSync(log) ? readFileSync(log, 'utf8').slice(-1500) : 'it said nothing';
  }

  /** One connection for all commands: each new one costs the lab's processor a key exchange. */
  private sshOptions(): string[] {
    return [
      ...['-q', '-i', join(this.parts.host, 'key'), '-p', String(this.sshPort)],
      ...[
        'BatchMode=yes',
        'StrictHostKeyChecking=no',
        'UserKnownHostsFile=/dev/null',
        'ConnectTimeout=20',
        'ServerAliveInterval=30',
        'ServerAliveCountMax=10',
        'ControlMaster=auto',
        'ControlPersist=600',
        `ControlPath=${join(this.parts.directory, 'ssh')}`,
      ].flatMap((option) => ['-o', option]),
    ];
  }
}
