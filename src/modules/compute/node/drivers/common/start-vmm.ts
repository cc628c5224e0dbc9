import { join } from 'node:path';
import type { Logger } from 'pino';
import { removeCgroup } from '../../../../../core/host/processes/cgroup';
import { type ProcessIdentity, signalProcess, waitGone } from '../../../../../core/host/processes/process-identity';
import { confineThreads } from '../../../../../core/host/cpus/affinity';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { endProcessesNaming } from '../../../../../core/host/processes/processes-naming';
import { LauncherGone } from '../../../../../core/host/sandbox/launcher-gone';
import type { SpawnSandboxedOptions } from '../../../../../core/host/sandbox/spawn-sandboxed';
import type { VmCpus, VmHandle, VmSpec } from '../vmm-driver';
import { together } from '../../../../../core/host/together';
import { type Companion, endCompanion, removeSocket, startCompanion } from './companion';
import { beginStart } from './begin-start';
import { statusFile } from './ended-by-itself';
import { makeReady } from './make-ready';
import { unlinkAll } from './run-files';
import { spawnVmm, type SpawnedVmm } from './spawn-vmm';
import { socketFolder } from './vmm-files';

/** Milliseconds until a VMM that was killed is gone. */
const killDeadline = 10_000;

/** What differs between VMMs in a start. */
export interface VmmStart {
  kind: string;
  program: string;
  args: readonly string[];
  /** Whether it is possible at all; nothing is left when not. Begun already. */
  checks: Promise<unknown>;
  /** Makes files of its own in the run and log folders, before the VMM's sandbox is made. */
  prepare?: () => Promise<void>;
  process: Pick<SpawnSandboxedOptions, 'logFile' | 'eventFile' | 'deviceFile' | 'sandbox'>;
  /** Parts of its machine that are programs of their own. */
  companions?: readonly Companion[];
  /** Names of the sockets that it makes. */
  sockets: readonly string[];
  /** Resolves once the VM is seen to run. */
  observe: (spawned: SpawnedVmm) => Promise<void>;
  /** Its threads are where they are to be. */
  confine: (handle: VmHandle, cpus: VmCpus) => Promise<boolean>;
}

/** Throws `VerbFailure` `not_confined` with what the kernel says. */
const keptToCpus = async (confined: Promise<unknown>): Promise<void> => {
  await confined.catch((error: unknown) => {
    if (error instanceof VerbFailure) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new VerbFailure('not_confined', 'It cannot be kept to its CPUs.', false, {}, { cause: error, detail });
  });
};

/**
 * Starts a VMM as every VMM is started: its folders, its process shut in and under its own user, its cgroup before it
 * does anything, then whatever makes the VM run, observed. On failure no process, socket, cgroup or file of it is left.
 */
export const startVmm = async (spec: VmSpec, start: VmmStart, log: Logger): Promise<VmHandle> => {
  const files = await beginStart(spec, start.checks);
  let spawned: SpawnedVmm | null = null;
  const beside: { name: string; process: ProcessIdentity }[] = [];
  const companions = start.companions ?? [];
  try {
    await start.prepare?.();
    const ready = makeReady(spec, start.sockets);
    const place = async ({ pid }: ProcessIdentity): Promise<void> => {
      const { enforced, reason } = await (await ready)(pid);
      if (enforced && reason !== '')
        log.warn({ instanceId: spec.instanceId, reason }, 'it has a cgroup without a unit');
      if (!enforced) log.debug({ instanceId: spec.instanceId, reason }, 'limits are not enforced');
      // Before it makes a thread: what it makes has what it has.
      if (spec.cpus) await keptToCpus(confineThreads(pid, () => spec.cpus?.process ?? []));
    };
    // They need the machine's cgroup before the VMM is there.
    if (companions.length > 0)
      await together(
        ready,
        ...companions.map(async (one) => {
          beside.push({ name: one.name, process: await startCompanion(spec, one, place) });
        }),
      );
    // Whoever fails first, the other is at its end before anything is taken back.
    [spawned] = await together(
      spawnVmm(start.program, start.args, {
        netns: spec.netns,
        ...start.process,
        statusFile: join(spec.runDir, statusFile),
        before: place,
      }),
      ready,
    );
    await start.observe(spawned);
    const handle = {
      driver: start.kind,
      instanceId: spec.instanceId,
      process: spawned.process,
      user: spec.user,
      runDir: spec.runDir,
      logDir: spec.logDir,
      startedAt: new Date().toISOString(),
      ...(beside.length > 0 && { beside }),
    };
    if (spec.cpus) await keptToCpus(start.confine(handle, spec.cpus));
    spawned.release();
    return handle;
  } catch (error) {
    if (spawned) {
      signalProcess(spawned.process, 'SIGKILL');
      await waitGone(spawned.process, killDeadline);
    } else if (error instanceof LauncherGone) await endProcessesNaming(spec.runDir);
    for (const { process } of beside) await endCompanion(process);
    await removeCgroup(spec.instanceId);
    await unlinkAll(socketFolder(spec), start.sockets);
    await together(...companions.map(removeSocket));
    await files.rollback();
    throw error;
  }
};
