import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { signalProcess, waitGone, type ProcessIdentity } from '../../../../../core/host/processes/process-identity';
import { readTail, type SpawnSandboxedOptions } from '../../../../../core/host/sandbox/spawn-sandboxed';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { VmSpec } from '../vmm-driver';
import { FolderChanges } from './folder-changes';
import { unlinkAll } from './run-files';
import { spawnVmm, startPause } from './spawn-vmm';
import { socketFolder } from './vmm-files';

/** Milliseconds. */
const startDeadline = 10_000;
const killDeadline = 10_000;

/**
 * A program beside a VMM that is a part of its machine: of the same user, in the same network namespace and cgroup, shut in
 * likewise. It listens before the VMM begins, and ends by itself when the VMM lets go of it.
 */
export interface Companion extends Pick<SpawnSandboxedOptions, 'logFile' | 'sandbox'> {
  /** For people. */
  name: string;
  program: string;
  args: readonly string[];
  /** Makes what it needs, and ends one of an earlier start. */
  prepare: () => Promise<void>;
  /** In the VMM's own folder: it is there when the program is ready. */
  socket: string;
}

/** Starts it and waits until it listens. Throws `VerbFailure` `companion_failed`; then nothing of it runs. */
export const startCompanion = async (
  spec: VmSpec,
  companion: Companion,
  before: NonNullable<SpawnSandboxedOptions['before']>,
): Promise<ProcessIdentity> => {
  const { program, args, logFile, sandbox, socket } = companion;
  await companion.prepare();
  await unlinkAll(socketFolder(spec), [socket]);
  const changes = new FolderChanges(socketFolder(spec));
  try {
    const begun = Date.now();
    const spawned = await spawnVmm(program, args, { netns: spec.netns, logFile, sandbox, before });
    for (;;) {
      const listens = await access(join(socketFolder(spec), socket)).then(
        () => true,
        () => false,
      );
      if (listens) {
        spawned.release();
        return spawned.process;
      }
      if ((await waitGone(spawned.process, 0)) || Date.now() - begun >= startDeadline) {
        await endCompanion(spawned.process);
        throw new VerbFailure(
          'companion_failed',
          `The ${companion.name} of the machine could not be started.`,
          false,
          {},
          { detail: await readTail(logFile) },
        );
      }
      await changes.next(startPause(begun));
    }
  } finally {
    changes.close();
  }
};

/** At once, and waits until it is gone. */
export const endCompanion = async (process: ProcessIdentity): Promise<void> => {
  signalProcess(process, 'SIGKILL');
  await waitGone(process, killDeadline);
};
