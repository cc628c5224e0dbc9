import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { SuspendedMemory } from '../common/suspended-memory';
import { noCoreDump, type CoreDumping, type VmState } from '../vmm-driver';
import type { ChClient } from './ch-client';
import { ChError } from './ch-error';

/** In the folder that the VMM may write to while it is lent to it. */
const fileName = 'core';
/** Milliseconds, for a gibibyte of memory and for each further one. */
const deadlinePerGib = 120_000;
const pollMs = 500;

/** Tells how far the file is, and cuts the wait when it has more than it may. */
const watchFile = async (path: string, { limit, progress }: CoreDumping, over: AbortController): Promise<void> => {
  while (!over.signal.aborted) {
    const bytes = (await stat(path).catch(() => null))?.size ?? 0;
    if (bytes > limit) return over.abort();
    progress(bytes, limit);
    await delay(pollMs, undefined, { signal: over.signal }).catch(() => undefined);
  }
};

/**
 * Cloud Hypervisor writes the file by itself, into the folder of suspensions, which Landlock lets it write to; then it is
 * taken out of there. Nothing can end it: whoever does not wait any more sees it out with `settleChDump`.
 */
export const dumpChMemory = async (client: ChClient, memory: SuspendedMemory, dumping: CoreDumping): Promise<void> => {
  const { format, limit, signal } = dumping;
  if (format !== 'elf') throw noCoreDump(`Cloud Hypervisor writes elf, not ${format}.`);
  await memory.lendFor();
  const path = join(memory.directory, fileName);
  const over = new AbortController();
  const watched = watchFile(path, dumping, over);
  try {
    const timeoutMs = deadlinePerGib * Math.max(1, Math.ceil(limit / 2 ** 30));
    await client.coredump(path, timeoutMs, AbortSignal.any([signal, over.signal]));
    await memory.moveOut(fileName, dumping.path);
  } catch (error) {
    if (!(error instanceof ChError)) throw error;
    if (error.status === 404)
      throw noCoreDump('The Cloud Hypervisor of its host was built without core dumps (guest_debug).');
    throw new VerbFailure(
      'core_dump_failed',
      'Cloud Hypervisor could not write its memory down.',
      true,
      {},
      { cause: error, detail: error.message },
    );
  } finally {
    over.abort();
    await watched;
  }
};

/** It answers nobody before a dump is over. One that failed has left its VM paused. */
export const settleChDump = async (
  state: () => Promise<VmState>,
  memory: SuspendedMemory,
  signal: AbortSignal,
): Promise<VmState> => {
  for (;;) {
    signal.throwIfAborted();
    const answered = await state().catch((error: unknown) => {
      if (error instanceof VerbFailure && error.code === 'vmm_unresponsive') return null;
      throw error;
    });
    if (answered !== null) {
      await memory.empty();
      return answered;
    }
    await delay(pollMs, undefined, { signal });
  }
};
