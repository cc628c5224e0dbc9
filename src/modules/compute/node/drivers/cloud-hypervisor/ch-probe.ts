import { chown, mkdir, readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { exec } from '../../../../../core/host/processes/exec';
import { findProgram } from '../../../../../core/host/processes/find-program';
import { innerPid, signalProcess, waitGone } from '../../../../../core/host/processes/process-identity';
import { readTail } from '../../../../../core/host/sandbox/spawn-sandboxed';
import { copyKernel, findKernel, kernelBanner, kvmObstacle, trialCommandLine } from '../common/host-kernel';
import { FolderChanges } from '../common/folder-changes';
import { spawnVmm, startPause, type SpawnedVmm } from '../common/spawn-vmm';
import { cachedTrial, trial, type Trial } from '../common/trial-cache';
import { trialPatience } from '../common/trial-patience';
import { clearTrials, inTrialPlace } from '../common/trial-place';
import type { VmmSandboxOptions } from '../common/vmm-sandbox';
import { ChClient } from './ch-client';
import type { ChPayload } from './ch-config';
import { ChError } from './ch-error';
import { unixTransport } from './ch-transport';
import { parseChVersion } from './ch-version';

export interface ChProbeOptions {
  binary: string;
  payload: ChPayload;
  /** Where the outcome of the trial boot is kept. */
  cacheDir: string;
  /** The binary is the simulation, which needs no KVM. */
  simulated?: boolean;
  sandbox: VmmSandboxOptions;
}

export interface ChFacts {
  /** E.g. `53.0`; empty when it is not installed. */
  version: string;
  usable: boolean;
  reason: string;
  /** VMs are confined by Landlock. */
  landlock: boolean;
  /** Why they are not; empty when they are. */
  landlockReason: string;
  /** The firmware's tables can carry names. */
  names: boolean;
  /** It was built with core dumps. */
  coreDump: boolean;
}

const startDeadlineMs = 15_000;
/** Of a configuration as the VMM repeats it. */
const chAbilities = z.object({
  landlock_enable: z.boolean().nullish(),
  platform: z.object({ system_product_name: z.string().nullish() }).nullish(),
});
/** Milliseconds. */
const trialCallMs = 10_000;
const trialMemory = 256 * 1024 * 1024;

/**
 * Waits until the VMM behind the socket answers and is the process that was started: a stale socket may be another's.
 * Throws `ChError`.
 */
export const awaitApi = async (
  socket: string,
  client: ChClient,
  spawned: SpawnedVmm,
  logFile: string,
): Promise<void> => {
  const begun = Date.now();
  const end = begun + startDeadlineMs;
  const changes = new FolderChanges(dirname(socket));
  try {
    for (;;) {
      if (spawned.hasEnded())
        throw new ChError('vmm.ping', 500, [(await readTail(logFile)).slice(-1000) || (await spawned.ended)]);
      const answer = await client.ping().catch((error: unknown) => {
        if (error instanceof ChError) return error;
        throw error;
      });
      if (!(answer instanceof ChError)) {
        // It knows itself by the id of its own process namespace.
        if (answer.pid === innerPid(spawned.process.pid)) return;
        throw new ChError('vmm.ping', 500, [
          `process ${answer.pid} answers on the socket of process ${spawned.process.pid}`,
        ]);
      }
      if (Date.now() >= end) throw answer;
      await changes.next(startPause(begun));
    }
  } finally {
    changes.close();
  }
};

/** What a trial found out besides whether guests run. */
const chTrial = trial.extend({
  /** The VMM confined itself, and its guest ran so. */
  landlock: z.boolean(),
  landlockReason: z.string(),
  /** It takes the names in the firmware's tables. */
  names: z.boolean(),
  /** It has the endpoint of core dumps. */
  coreDump: z.boolean(),
});
type ChTrial = z.output<typeof chTrial>;

/** What the VMM says when the kernel cannot confine it. Nothing else means that. */
const landlockImpossible = 'Failed to apply landlock config';

const noAbilities = { landlock: false, landlockReason: '', names: false, coreDump: false };

/** Only builds for debugging have the endpoint; all of those that have it refuse a dump of no VM. */
const hasCoreDump = async (client: ChClient): Promise<boolean> => {
  const refusal = await client.coredump('/nowhere', trialCallMs).catch((error: unknown) => error);
  return refusal instanceof ChError && !refusal.unanswered && refusal.status !== 404;
};

/** Waits for the first words of a booted kernel. */
const hear = async (spawned: SpawnedVmm, serial: string, log: string): Promise<Trial> => {
  const patience = await trialPatience();
  const end = Date.now() + patience.longest;
  let heard = 0;
  for (
    let silent = Date.now();
    Date.now() < end && Date.now() - silent < patience.silence && !spawned.hasEnded();
    await delay(20)
  ) {
    const text = await readFile(serial, 'utf8').catch(() => '');
    if (text.includes(kernelBanner)) return { works: true, reason: '' };
    if (text.length !== heard) silent = Date.now();
    heard = text.length;
  }
  return {
    works: false,
    reason: spawned.hasEnded()
      ? `a trial guest ended: ${(await readTail(log)).split('\n').at(-1) ?? ''}`
      : `a trial guest hung ${heard === 0 ? 'before it printed anything' : `after ${heard} characters`}`,
  };
};

/**
 * Creates a VM as instances' are, sees what of it the VMM knows, and boots the host's kernel in it if there is one.
 * Null when the kernel cannot confine the VMM, which was asked to.
 */
const attempt = async (
  directory: string,
  binary: string,
  kernel: string | null,
  landlock: boolean,
  { sandbox: { trialUser, readOnlyPaths }, simulated = false }: ChProbeOptions,
): Promise<ChTrial | null> => {
  const own = join(directory, 'own');
  const socket = join(own, 'api.sock');
  const serial = join(own, 'serial');
  const log = join(directory, 'log');
  let spawned: SpawnedVmm | null = null;
  try {
    const copy = kernel === null ? null : await copyKernel(kernel, directory);
    await mkdir(own, { mode: 0o700 });
    await chown(own, trialUser, trialUser);
    spawned = await spawnVmm(binary, ['--api-socket', `path=${socket}`], {
      netns: null,
      logFile: log,
      sandbox: {
        user: trialUser,
        readOnly: [...readOnlyPaths, ...(copy === null ? [] : [copy])],
        writable: [own],
        devices: simulated ? [] : ['/dev/kvm'],
      },
    });
    const client = new ChClient(unixTransport(socket, trialUser));
    await awaitApi(socket, client, spawned, log);
    const coreDump = await hasCoreDump(client);
    await client.create({
      cpus: { boot_vcpus: 1, max_vcpus: 1 },
      memory: { size: trialMemory },
      payload: { kernel: copy ?? '/none', cmdline: trialCommandLine },
      disks: [],
      net: [],
      rng: { src: '/dev/urandom' },
      serial: { mode: 'File', file: serial },
      console: { mode: 'Off' },
      pvpanic: true,
      platform: { system_manufacturer: 'trial', system_product_name: 'trial', system_serial_number: 'trial' },
      ...(landlock && { landlock_enable: true as const, landlock_rules: [{ path: own, access: 'rw' as const }] }),
    });
    const config = chAbilities.parse((await client.info())?.config);
    // What a VMM does not know it leaves out, silently.
    const confined = landlock && config.landlock_enable === true;
    const found = {
      landlock: confined,
      landlockReason: landlock && !confined ? 'this Cloud Hypervisor knows no Landlock' : '',
      names: config.platform?.system_product_name === 'trial',
      coreDump,
    };
    if (copy === null) return { works: true, reason: 'not tried: there is no kernel under /boot to boot', ...found };
    await client.boot();
    return { ...(await hear(spawned, serial, log)), ...found };
  } catch (error) {
    if (landlock && error instanceof ChError && error.says(landlockImpossible)) return null;
    return {
      works: false,
      reason: `a trial guest could not be started: ${(error as Error).message.slice(0, 300)}`,
      ...noAbilities,
    };
  } finally {
    if (spawned) {
      signalProcess(spawned.process, 'SIGKILL');
      await waitGone(spawned.process, 5000);
    }
  }
};

const tryOut = async (binary: string, kernel: string | null, options: ChProbeOptions): Promise<ChTrial> => {
  const inPlace = (landlock: boolean): Promise<ChTrial | null> =>
    inTrialPlace(options.cacheDir, (directory) => attempt(directory, binary, kernel, landlock, options));
  const confined = await inPlace(true);
  if (confined !== null) return confined;
  const open = await inPlace(false);
  return {
    ...(open ?? { works: false, reason: 'the trial contradicts itself', ...noAbilities }),
    landlock: false,
    landlockReason: 'this kernel has no Landlock that Cloud Hypervisor can use',
  };
};

/** Where the outcome of the trial is kept. */
export const chTrialFile = ({ cacheDir }: Pick<ChProbeOptions, 'cacheDir'>): string =>
  join(cacheDir, 'cloud-hypervisor-kvm.json');

const kvmTrial = async (options: ChProbeOptions, binary: string, version: string): Promise<ChTrial> => {
  const obstacle = options.simulated === true ? null : await kvmObstacle();
  if (obstacle !== null) return { works: false, reason: obstacle, ...noAbilities };
  const kernel = await findKernel();
  return cachedTrial(chTrialFile(options), [release(), version, binary, kernel ?? 'none'].join('|'), chTrial, () =>
    tryOut(binary, kernel, options),
  );
};

/**
 * What Cloud Hypervisor can do here: installed, with something that boots the guest, and KVM that really runs one
 * (found out by booting a kernel). What it is able to is found out in the same trial, never from its version, nor from
 * what becomes of an instance.
 */
export const probeCh = async (options: ChProbeOptions): Promise<ChFacts> => {
  const unusable = (version: string, reason: string): ChFacts => ({ version, usable: false, reason, ...noAbilities });
  await clearTrials(options.cacheDir);
  const binary = findProgram(options.binary);
  if (!binary) return unusable('', `${options.binary} is not installed`);
  const { stdout } = await exec(binary, ['--version'], { timeoutMs: 60_000 }).catch(() => ({ stdout: '' }));
  const version = parseChVersion(stdout)?.text ?? '';
  if (version === '') return unusable(version, `${binary} does not say its version`);
  if (options.payload.firmware === '' && options.payload.kernel === '')
    return unusable(
      version,
      'there is no firmware for it: put hypervisor-fw or CLOUDHV.fd beside the binary or into /usr/share/cloud-hypervisor, or set modules.compute.cloudHypervisor.firmware',
    );
  const { works, reason, landlock, landlockReason, names, coreDump } = await kvmTrial(options, binary, version);
  if (!works) return unusable(version, `KVM does not work here: ${reason}`);
  return {
    version,
    usable: true,
    reason: reason === '' ? 'KVM boots guests' : reason,
    landlock,
    landlockReason,
    names,
    coreDump,
  };
};
