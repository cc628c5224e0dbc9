import { access } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { signalProcess, waitGone, type ProcessIdentity } from '../../../../../core/host/processes/process-identity';
import { readTail, type SpawnSandboxedOptions } from '../../../../../core/host/sandbox/spawn-sandboxed';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { VmSpec } from '../vmm-driver';
import { FolderChanges } from './folder-changes';
import { unlinkAll } from './run-files';
import { spawnVmm, startPause } from './spawn-vmm';

/** Milliseconds. */
const startDeadline = 10_000;
const killDeadline = 10_000;

/**
 * A program beside a VMM that is a part of its machine: in the same network namespace and cgroup, shut in likewise. It
 * listens before the VMM begins, and ends by itself when the VMM lets go of it.
 */
export interface Companion extends Pick<SpawnSandboxedOptions, 'logFile' | 'sandbox'> {
  /** For people. */
  name: string;
  program: string;
  args: readonly string[];
  /** Makes what it needs, and ends one of an earlier start. */
  prepare: () => Promise<void>;
  /** Absolute path of the socket that it makes: it is there when the program is ready. */
  socket: string;
  /** Once it listens, and before a VMM connects. */
  ready?: (process: ProcessIdentity) => Promise<void>;
}

/** Starts it and waits until it listens. Throws `VerbFailure` `companion_failed`; then nothing of it runs. */
export const startCompanion = async (
  spec: VmSpec,
  companion: Companion,
  before: NonNullable<SpawnSandboxedOptions['before']>,
): Promise<ProcessIdentity> => {
  const { program, args, logFile, sandbox, socket } = companion;
  await companion.prepare();
  await removeSocket(companion);
  const changes = new FolderChanges(dirname(socket));
  try {
    const begun = Date.now();
    const spawned = await spawnVmm(program, args, { netns: spec.netns, logFile, sandbox, before });
    try {
      for (;;) {
        if (await isThere(socket)) break;
        if ((await waitGone(spawned.process, 0)) || Date.now() - begun >= startDeadline) throw await failed(companion);
        await changes.next(startPause(begun));
      }
      await companion.ready?.(spawned.process);
      // Some listen first, and find out then what they lack.
      if (await waitGone(spawned.process, 0)) throw await failed(companion);
    } catch (error) {
      const ended = await waitGone(spawned.process, 0);
      await endCompanion(spawned.process);
      throw ended ? await failed(companion, error) : error;
    }
    spawned.release();
    return spawned.process;
  } finally {
    changes.close();
  }
};

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const failed = async ({ name, logFile }: Companion, cause?: unknown): Promise<VerbFailure> =>
  new VerbFailure(
    'companion_failed',
    `The ${name} of the machine could not be started.`,
    false,
    {},
    { cause, detail: await readTail(logFile) },
  );

/** Removes what it made for its VMM to connect to. */
export const removeSocket = ({ socket }: Pick<Companion, 'socket'>): Promise<void> =>
  unlinkAll(dirname(socket), [basename(socket)]);

/** At once, and waits until it is gone. */
export const endCompanion = async (process: ProcessIdentity): Promise<void> => {
  signalProcess(process, 'SIGKILL');
  await waitGone(process, killDeadline);
};
