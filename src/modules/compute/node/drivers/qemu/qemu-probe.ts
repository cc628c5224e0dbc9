import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { exec } from '../../../../../core/host/exec';
import { findKernel, kernelBanner, kvmObstacle, trialCommandLine, trialDeadlines } from '../common/host-kernel';
import { findProgram } from '../common/spawn-vmm';
import { cachedTrial, type Trial } from '../common/trial-cache';
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
  /** Where the outcome of the trial boot is kept. */
  cacheDir: string;
}

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
    let silence = setTimeout(hung, trialDeadlines.silence);
    const longest = setTimeout(hung, trialDeadlines.longest);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-65_536);
      clearTimeout(silence);
      silence = setTimeout(hung, trialDeadlines.silence);
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
  if (kernel !== null) return boot(binary, [...common, '-kernel', kernel, '-append', trialCommandLine], kernelBanner);
  const directory = await mkdtemp(join(tmpdir(), 'vc-stack-probe-'));
  try {
    const image = join(directory, 'probe.raw');
    await writeFile(image, probeDisk());
    return await boot(binary, [...common, '-drive', `file=${image.replaceAll(',', ',,')},format=raw,if=virtio`], probeSectorBanner);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

const kvmTrial = async (options: QemuProbeOptions, binary: string, version: string): Promise<Trial> => {
  const obstacle = await kvmObstacle();
  if (obstacle !== null) return { works: false, reason: obstacle };
  const kernel = await findKernel();
  return cachedTrial(join(options.cacheDir, 'qemu-kvm.json'), [release(), version, binary, kernel ?? 'sector'].join('|'), () => tryKvm(binary, kernel));
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
