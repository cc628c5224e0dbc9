import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { exec } from '../../../../../core/host/exec';
import { findProgram } from '../common/spawn-vmm';
import { probeDisk, probeSectorBanner } from './probe-guest';
import type { QemuAccel } from './qemu-arguments';

export interface QemuFacts {
  /** Empty when QEMU is not installed. */
  version: string;
  accel: QemuAccel;
  usable: boolean;
  /** Why this accelerator, for users; or why QEMU cannot be used. */
  reason: string;
}

export interface QemuProbeOptions {
  binary: string;
  accel: 'auto' | 'kvm' | 'tcg';
  /** Where the answer is kept: booting a guest at each start of the agent would take seconds. */
  cacheDir: string;
}

/** No sign of life for so long ends the trial, in milliseconds: a kernel that hangs prints nothing more. */
const silenceMs = 6000;
/** Hosts whose KVM is itself emulated are slow, but not slower than this. */
const longestMs = 20_000;

const cacheSchema = z.object({ key: z.string(), works: z.boolean(), reason: z.string() });

interface Trial {
  works: boolean;
  reason: string;
}

const readable = (path: string): Promise<boolean> => access(path, constants.R_OK).then(() => true, () => false);

/** The running kernel's image, or else the newest one under /boot; null when none can be read. */
const findKernel = async (): Promise<string | null> => {
  const own = `/boot/vmlinuz-${release()}`;
  if (await readable(own)) return own;
  const names = (await readdir('/boot').catch(() => [])).filter((name) => name.startsWith('vmlinuz-')).sort();
  const newest = names.at(-1);
  return newest !== undefined && (await readable(join('/boot', newest))) ? join('/boot', newest) : null;
};

/** Runs a trial guest until its serial port has said `banner`, or it ended, or fell silent. */
const boot = (binary: string, args: readonly string[], banner: string): Promise<Trial> =>
  new Promise((resolve) => {
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
    let output = '';
    let errors = '';
    const settle = (trial: Trial): void => {
      clearTimeout(silence);
      clearTimeout(longest);
      child.kill('SIGKILL');
      resolve(trial);
    };
    const hung = (): void => {
      const last = output.trim().split('\n').at(-1)?.trim().slice(0, 120) ?? '';
      settle({ works: false, reason: last === '' ? 'a trial guest hung before it printed anything' : `a trial guest hung after "${last}"` });
    };
    let silence = setTimeout(hung, silenceMs);
    const longest = setTimeout(hung, longestMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-65_536);
      clearTimeout(silence);
      silence = setTimeout(hung, silenceMs);
      if (output.includes(banner)) settle({ works: true, reason: '' });
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4096)));
    child.once('error', (error) => settle({ works: false, reason: error.message }));
    child.once('close', () => {
      const text = errors.split('\n').find((line) => line.includes('error')) ?? errors.trim().split('\n').at(-1) ?? '';
      settle({ works: false, reason: `a trial guest ended: ${text.replace(/^.*?error: /, '').slice(0, 200) || 'without a message'}` });
    });
  });

const tryKvm = async (binary: string, kernel: string | null): Promise<Trial> => {
  const common = ['-M', 'q35', '-accel', 'kvm', '-cpu', 'host', '-m', '256', '-display', 'none', '-nodefaults', '-no-user-config', '-no-reboot', '-serial', 'stdio'];
  // The banner comes from 64-bit code with paging on; a kernel that stops in its real-mode set-up, as on hosts with half a KVM, never prints it.
  if (kernel !== null) return boot(binary, [...common, '-kernel', kernel, '-append', 'console=ttyS0 earlyprintk=ttyS0 panic=-1'], 'Linux version');
  const directory = await mkdtemp(join(tmpdir(), 'vc-stack-probe-'));
  try {
    const image = join(directory, 'probe.raw');
    await writeFile(image, probeDisk());
    return await boot(binary, [...common, '-drive', `file=${image.replaceAll(',', ',,')},format=raw,if=virtio`], probeSectorBanner);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

const cachedTrial = async (options: QemuProbeOptions, binary: string, version: string): Promise<Trial> => {
  const kernel = await findKernel();
  const key = [release(), version, binary, kernel ?? 'sector'].join('|');
  const file = join(options.cacheDir, 'kvm-probe.json');
  const known = await readFile(file, 'utf8').then((text) => cacheSchema.safeParse(JSON.parse(text)), () => null).catch(() => null);
  if (known?.success && known.data.key === key) return known.data;
  const trial = await tryKvm(binary, kernel);
  await mkdir(options.cacheDir, { recursive: true });
  await writeFileAtomic(file, JSON.stringify({ key, ...trial }));
  return trial;
};

const kvmTrial = async (options: QemuProbeOptions, binary: string, version: string): Promise<Trial> => {
  const open = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(() => null, (error: NodeJS.ErrnoException) => error.code ?? 'error');
  if (open === 'ENOENT') return { works: false, reason: 'there is no /dev/kvm' };
  if (open !== null) return { works: false, reason: `/dev/kvm cannot be opened (${open})` };
  return cachedTrial(options, binary, version);
};

/** Version of an installed QEMU (`QEMU emulator version 7.2.22 (...)`), or null. */
export const qemuVersion = async (binary: string): Promise<string | null> => {
  const { stdout } = await exec(binary, ['--version'], { timeoutMs: 10_000 }).catch(() => ({ stdout: '' }));
  return /version (\S+)/.exec(stdout)?.[1] ?? null;
};

/**
 * What QEMU can do here. That /dev/kvm opens says little (nested and paravirtual hosts have one that boots firmware and hangs kernels), so a
 * kernel is booted, with a deadline. The outcome is cached by kernel and QEMU version. Never throws for a missing QEMU.
 */
export const probeQemu = async (options: QemuProbeOptions): Promise<QemuFacts> => {
  const binary = await findProgram(options.binary);
  if (!binary) return { version: '', accel: 'tcg', usable: false, reason: `${options.binary} is not installed` };
  const version = await qemuVersion(binary);
  if (version === null) return { version: '', accel: 'tcg', usable: false, reason: `${binary} does not say its version` };
  if (options.accel === 'tcg') return { version, accel: 'tcg', usable: true, reason: 'software emulation, as configured' };
  const trial = await kvmTrial(options, binary, version);
  if (trial.works) return { version, accel: 'kvm', usable: true, reason: 'KVM boots guests' };
  if (options.accel === 'kvm') return { version, accel: 'kvm', usable: false, reason: `KVM is configured but does not work: ${trial.reason}` };
  return { version, accel: 'tcg', usable: true, reason: `software emulation, for KVM does not work here: ${trial.reason}` };
};
