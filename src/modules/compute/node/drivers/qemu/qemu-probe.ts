import { spawn } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { exec } from '../../../../../core/host/processes/exec';
import { findProgram } from '../../../../../core/host/processes/find-program';
import { sandboxed } from '../../../../../core/host/sandbox/sandbox';
import { copyKernel, findKernel, kernelBanner, kvmObstacle, trialCommandLine } from '../common/host-kernel';
import { trialPatience } from '../common/trial-patience';
import { canLimitNics } from '../common/nic-limits';
import { cachedTrial, forgetTrial, trial as trialSchema, type Trial } from '../common/trial-cache';
import { clearTrials, inTrialPlace } from '../common/trial-place';
import type { VmmSandboxOptions } from '../common/vmm-sandbox';
import { probeDisk, probeSectorBanner } from './probe-guest';
import { cpuModelsOf, type QemuAccel } from './qemu-cpus';
import { forgetDevices, hasDevice } from './qemu-devices';
import { tryScreen } from './qemu-screen-probe';
import { virtiofsdFor } from './qemu-shares';
import { hasTpm } from './qemu-tpm';
import { hasVsock } from './qemu-vsock';
import { findUefi, type UefiFirmware } from './uefi-firmware';

export interface QemuFacts {
  /** Empty when QEMU is not installed. */
  version: string;
  accel: QemuAccel;
  usable: boolean;
  /** Why this accelerator, for users; or why QEMU cannot be used. */
  reason: string;
  /** What operators should know although guests run; empty when there is nothing. */
  warning: string;
  uefi: UefiFirmware | null;
  /** One that refuses what is not signed. */
  secureUefi: UefiFirmware | null;
  /** Its machines can have a TPM. */
  tpm: boolean;
  /** Its machines can have a watchdog. */
  watchdog: boolean;
  /** Its machines can have a balloon. */
  balloon: boolean;
  /** Its machines can have a vsock. */
  vsock: boolean;
  /** The kernel can limit its cards. */
  nicLimits: boolean;
  /** What gives its machines directories of the host; null when they can have none. */
  virtiofsd: string | null;
  /** Its machines have a screen, which VNC shows. */
  screen: boolean;
  /** Models of CPUs that it can give whole. */
  cpuModels: readonly string[];
}

export interface QemuProbeOptions {
  binary: string;
  accel: 'auto' | 'kvm' | 'tcg';
  /** Name or path of a virtiofsd. Absent or empty: looked for in the usual places. */
  virtiofsd?: string;
  /** Guests may have a vsock of the host's kernel. */
  vsock?: boolean;
  /** Where the outcome of the trial boot is kept. */
  cacheDir: string;
  /** Where firmware packages describe themselves, when not in QEMU's usual places. */
  uefiFolders?: readonly string[];
  sandbox: VmmSandboxOptions;
}

/**
 * Runs a trial guest, shut in as an instance's is, until its serial port has said `banner`, or it ended, or fell
 * silent.
 */
const boot = async (
  binary: string,
  args: readonly string[],
  banner: string,
  { trialUser, readOnlyPaths }: VmmSandboxOptions,
  files: readonly string[],
): Promise<Trial> => {
  const [program, argv] = await sandboxed(binary, args, {
    user: trialUser,
    readOnly: [...readOnlyPaths, ...files],
    devices: ['/dev/kvm'],
    network: 'none',
    bound: true,
  });
  const patience = await trialPatience();
  return new Promise((resolve) => {
    const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
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
      settle({
        works: false,
        reason: last === '' ? 'a trial guest hung before it printed anything' : `a trial guest hung after "${last}"`,
      });
    };
    let silence = setTimeout(hung, patience.silence);
    const longest = setTimeout(hung, patience.longest);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-65_536);
      clearTimeout(silence);
      silence = setTimeout(hung, patience.silence);
      if (output.includes(banner)) settle({ works: true, reason: '' });
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4096)));
    child.once('error', (error) => settle({ works: false, reason: error.message }));
    child.once('close', () => {
      const text = errors.split('\n').find((line) => line.includes('error')) ?? errors.trim().split('\n').at(-1) ?? '';
      settle({
        works: false,
        reason: `a trial guest ended: ${text.replace(/^.*?error: /, '').slice(0, 200) || 'without a message'}`,
      });
    });
  });
};

const tryKvm = (binary: string, kernel: string | null, { sandbox, cacheDir }: QemuProbeOptions): Promise<Trial> => {
  const common = [
    '-M',
    'q35',
    '-accel',
    'kvm',
    '-cpu',
    'host',
    '-m',
    '256',
    '-display',
    'none',
    '-nodefaults',
    '-no-user-config',
    '-no-reboot',
    '-serial',
    'stdio',
  ];
  return inTrialPlace(cacheDir, async (directory) => {
    if (kernel !== null) {
      const copy = await copyKernel(kernel, directory);
      return boot(binary, [...common, '-kernel', copy, '-append', trialCommandLine], kernelBanner, sandbox, [copy]);
    }
    const image = join(directory, 'probe.raw');
    await writeFile(image, probeDisk());
    // Nobody's secret: the trial's user reads it, and writes nothing.
    await chmod(image, 0o444);
    return boot(
      binary,
      [...common, '-drive', `file=${image.replaceAll(',', ',,')},format=raw,if=virtio,readonly=on`],
      probeSectorBanner,
      sandbox,
      [image],
    );
  });
};

/** Where the outcomes of trials are kept. */
const trialFile = ({ cacheDir }: Pick<QemuProbeOptions, 'cacheDir'>, of: 'kvm' | 'screen'): string =>
  join(cacheDir, `qemu-${of}.json`);

/** The next probe makes the trials again. */
export const forgetQemuTrials = async (options: Pick<QemuProbeOptions, 'cacheDir'>): Promise<void> => {
  forgetDevices();
  await forgetTrial(trialFile(options, 'kvm'));
  await forgetTrial(trialFile(options, 'screen'));
};

const kvmTrial = async (options: QemuProbeOptions, binary: string, version: string): Promise<Trial> => {
  const obstacle = await kvmObstacle();
  if (obstacle !== null) return { works: false, reason: obstacle };
  const kernel = await findKernel();
  return cachedTrial(
    trialFile(options, 'kvm'),
    [release(), version, binary, kernel ?? 'sector'].join('|'),
    trialSchema,
    () => tryKvm(binary, kernel, options),
  );
};

const hasScreen = async (
  options: QemuProbeOptions,
  binary: string,
  version: string,
  accel: QemuAccel,
): Promise<boolean> =>
  (
    await cachedTrial(trialFile(options, 'screen'), [version, binary, accel].join('|'), trialSchema, () =>
      tryScreen(binary, accel, options.cacheDir, options.sandbox),
    )
  ).works;

/** Version of an installed QEMU (`QEMU emulator version 7.2.22 (...)`), or null. */
const qemuVersion = async (binary: string): Promise<string | null> => {
  const { stdout } = await exec(binary, ['--version'], { timeoutMs: 60_000 }).catch(() => ({ stdout: '' }));
  return /version (\S+)/.exec(stdout)?.[1] ?? null;
};

/**
 * The oldest that is known to emulate what current kernels do. Seen: 7.2 corrupts flags, and Linux 6.12 dies in most
 * boots; 10.0 does not.
 */
const soundEmulation = 10;

/** Why guests may fail in software emulation by this QEMU; empty when nothing is known against it. */
export const emulationWarning = (version: string): string =>
  Number.parseInt(version, 10) >= soundEmulation
    ? ''
    : `Software emulation by QEMU ${version} is known to corrupt the flags of guests with Linux 6.12 and newer (Debian 13, for one), which then crash at random. Install QEMU ${soundEmulation} or newer (on Debian 12 from backports), or use hosts with KVM.`;

/**
 * What QEMU can do here. That /dev/kvm opens says little (nested and paravirtual hosts have one that boots firmware and
 * hangs kernels), so a kernel is booted, with a deadline. The outcome is cached by kernel and QEMU version. Never
 * throws for a missing QEMU.
 */
export const probeQemu = async (options: QemuProbeOptions): Promise<QemuFacts> => {
  const unusable = (version: string, accel: QemuAccel, reason: string): QemuFacts => ({
    version,
    accel,
    usable: false,
    reason,
    warning: '',
    uefi: null,
    secureUefi: null,
    tpm: false,
    watchdog: false,
    balloon: false,
    vsock: false,
    nicLimits: false,
    virtiofsd: null,
    screen: false,
    cpuModels: [],
  });
  await clearTrials(options.cacheDir);
  const binary = findProgram(options.binary);
  if (!binary) return unusable('', 'tcg', `${options.binary} is not installed`);
  const version = await qemuVersion(binary);
  if (version === null) return unusable('', 'tcg', `${binary} does not say its version`);
  const [uefi, secureUefi, tpm, watchdog, balloon, vsock, nicLimits, virtiofsd] = await Promise.all([
    findUefi(options.uefiFolders),
    findUefi(options.uefiFolders, { secureBoot: true }),
    hasTpm(binary),
    hasDevice(binary, 'i6300esb'),
    hasDevice(binary, 'virtio-balloon-pci'),
    options.vsock === true && hasVsock(binary),
    canLimitNics(),
    virtiofsdFor(binary, options.virtiofsd ?? ''),
  ]);
  const usable = async (accel: QemuAccel, reason: string): Promise<QemuFacts> => ({
    version,
    accel,
    usable: true,
    reason,
    warning: accel === 'tcg' ? emulationWarning(version) : '',
    uefi,
    secureUefi,
    tpm,
    watchdog,
    balloon,
    vsock,
    nicLimits,
    virtiofsd,
    screen: await hasScreen(options, binary, version, accel),
    cpuModels: await cpuModelsOf(binary, accel),
  });
  if (options.accel === 'tcg') return usable('tcg', 'software emulation, as configured');
  const trial = await kvmTrial(options, binary, version);
  if (trial.works) return usable('kvm', 'KVM boots guests');
  if (options.accel === 'kvm') return unusable(version, 'kvm', `KVM is configured but does not work: ${trial.reason}`);
  return usable('tcg', `software emulation, for KVM does not work here: ${trial.reason}`);
};
