import { chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { exec } from '../../../../../core/host/exec';
import { findProgram } from '../../../../../core/host/find-program';
import { innerPid, signalProcess, waitGone } from '../../../../../core/host/process-identity';
import { readTail } from '../../../../../core/host/spawn-sandboxed';
import { copyKernel, findKernel, kernelBanner, kvmObstacle, trialCommandLine, trialDeadlines } from '../common/host-kernel';
import { spawnVmm, type SpawnedVmm } from '../common/spawn-vmm';
import { cachedTrial, type Trial } from '../common/trial-cache';
import type { VmmSandboxOptions } from '../common/vmm-sandbox';
import { ChClient } from './ch-client';
import type { ChPayload } from './ch-config';
import { ChError } from './ch-error';
import { unixTransport } from './ch-transport';

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
}

const startDeadlineMs = 15_000;
const trialMemory = 256 * 1024 * 1024;

/** Waits until the VMM behind the socket answers and is the process that was started: a stale socket may be another's. Throws `ChError`. */
export const awaitApi = async (client: ChClient, spawned: SpawnedVmm, logFile: string): Promise<void> => {
  const end = Date.now() + startDeadlineMs;
  for (;;) {
    if (spawned.hasEnded()) throw new ChError('vmm.ping', 500, [(await readTail(logFile)).slice(-1000) || (await spawned.ended)]);
    const answer = await client.ping().catch((error: unknown) => {
      if (error instanceof ChError) return error;
      throw error;
    });
    if (!(answer instanceof ChError)) {
      // It knows itself by the id of its own process namespace.
      if (answer.pid === innerPid(spawned.process.pid)) return;
      throw new ChError('vmm.ping', 500, [`process ${answer.pid} answers on the socket of process ${spawned.process.pid}`]);
    }
    if (Date.now() >= end) throw answer;
    await delay(15);
  }
};

/** Boots the host's kernel without a disk and waits for its first words on the serial port. */
const boot = async (binary: string, kernel: string, { trialUser, readOnlyPaths }: VmmSandboxOptions): Promise<Trial> => {
  const directory = await mkdtemp(join(tmpdir(), 'vc-stack-probe-'));
  const own = join(directory, 'own');
  const socket = join(own, 'api.sock');
  const serial = join(own, 'serial');
  const log = join(directory, 'log');
  let spawned: SpawnedVmm | null = null;
  try {
    const copy = await copyKernel(kernel, directory);
    await mkdir(own, { mode: 0o700 });
    await chown(own, trialUser, trialUser);
    spawned = await spawnVmm(binary, ['--api-socket', `path=${socket}`], {
      netns: null,
      logFile: log,
      sandbox: { user: trialUser, readOnly: [...readOnlyPaths, copy], writable: [own], devices: ['/dev/kvm'] },
    });
    const client = new ChClient(unixTransport(socket, trialUser));
    await awaitApi(client, spawned, log);
    await client.create({
      cpus: { boot_vcpus: 1, max_vcpus: 1 },
      memory: { size: trialMemory },
      payload: { kernel: copy, cmdline: trialCommandLine },
      disks: [],
      net: [],
      rng: { src: '/dev/urandom' },
      serial: { mode: 'File', file: serial },
      console: { mode: 'Off' },
    });
    await client.boot();
    const end = Date.now() + trialDeadlines.longest;
    let heard = 0;
    for (let silent = Date.now(); Date.now() < end && Date.now() - silent < trialDeadlines.silence && !spawned.hasEnded(); await delay(20)) {
      const text = await readFile(serial, 'utf8').catch(() => '');
      if (text.includes(kernelBanner)) return { works: true, reason: '' };
      if (text.length !== heard) silent = Date.now();
      heard = text.length;
    }
    return { works: false, reason: spawned.hasEnded() ? `a trial guest ended: ${(await readTail(log)).split('\n').at(-1) ?? ''}` : 'a trial guest hung' };
  } catch (error) {
    return { works: false, reason: `a trial guest could not be started: ${(error as Error).message.slice(0, 300)}` };
  } finally {
    if (spawned) {
      signalProcess(spawned.process, 'SIGKILL');
      await waitGone(spawned.process, 5000);
    }
    await rm(directory, { recursive: true, force: true });
  }
};

const kvmTrial = async (options: ChProbeOptions, binary: string, version: string): Promise<Trial> => {
  const obstacle = options.simulated ? null : await kvmObstacle();
  if (obstacle !== null) return { works: false, reason: obstacle };
  const kernel = await findKernel();
  if (kernel === null) return { works: true, reason: 'not tried: there is no kernel under /boot to boot' };
  return cachedTrial(join(options.cacheDir, 'cloud-hypervisor-kvm.json'), [release(), version, binary, kernel].join('|'), () => boot(binary, kernel, options.sandbox));
};

/** What Cloud Hypervisor can do here: installed, with something that boots the guest, and KVM that really runs one (found out by booting a kernel). */
export const probeCh = async (options: ChProbeOptions): Promise<ChFacts> => {
  const binary = await findProgram(options.binary);
  if (!binary) return { version: '', usable: false, reason: `${options.binary} is not installed` };
  const { stdout } = await exec(binary, ['--version'], { timeoutMs: 10_000 }).catch(() => ({ stdout: '' }));
  const version = /v(\d[\w.-]*)/.exec(stdout)?.[1] ?? '';
  if (version === '') return { version, usable: false, reason: `${binary} does not say its version` };
  if (options.payload.firmware === '' && options.payload.kernel === '') return { version, usable: false, reason: 'there is no firmware for it: put hypervisor-fw or CLOUDHV.fd beside the binary or into /usr/share/cloud-hypervisor, or set modules.compute.cloudHypervisor.firmware' };
  const trial = await kvmTrial(options, binary, version);
  if (!trial.works) return { version, usable: false, reason: `KVM does not work here: ${trial.reason}` };
  return { version, usable: true, reason: trial.reason === '' ? 'KVM boots guests' : trial.reason };
};
