import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { lchown, open } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SparseWriter } from '../../../../../core/host/files/sparse-writer';
import { exec } from '../../../../../core/host/processes/exec';
import { isRunning, waitGone } from '../../../../../core/host/processes/process-identity';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { unlinkAll } from '../common/run-files';
import { socketFolder } from '../common/vmm-files';
import { noCoreDump, type CoreDumping, type VmHandle, type VmState } from '../vmm-driver';
import { type QemuMonitor, stateOf } from './qemu-monitor';

/** In the VMM's own folder: QEMU writes no files of its own, so what it tells goes through the agent. */
export const coreDumpPipe = 'core-dump.pipe';
/** Milliseconds. `begin`: for its disks to be at rest. `end`: for QEMU to close what it has told to its end. `settle`: for a dump whose reader has gone to be over. */
const deadlines = { perGib: 120_000, begin: 60_000, end: 10_000, settle: 30_000, gone: 1000 } as const;
const pollMs = 100;

interface DumpStatus {
  status: 'none' | 'active' | 'completed' | 'failed';
  completed: number;
  total: number;
}

const failed = (detail: string, cause?: unknown): VerbFailure =>
  new VerbFailure('core_dump_failed', 'QEMU could not write its memory down.', true, {}, { detail, cause });

/** The reading end of a pipe of that name, or null. What a VMM that was taken over put in its place is not opened. */
const openPipe = (path: string): number | null => {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return null;
  }
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  return null;
};

const makePipe = async (path: string, user: number): Promise<void> => {
  await exec('mkfifo', ['-m', '600', path]);
  // The folder is the VMM's: what lies there by now may be a link.
  await lchown(path, user, user);
};

const reading = (path: string): number => {
  const fd = openPipe(path);
  if (fd === null) throw failed('the pipe was exchanged');
  return fd;
};

/** All that comes through the pipe. Holes are left where there is nothing but zeros. */
const copy = async (pipe: Socket, { path, limit }: CoreDumping): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    const writer = new SparseWriter(file);
    for await (const chunk of pipe as AsyncIterable<Buffer>) {
      if (writer.bytes + chunk.length > limit) throw failed(`it tells more than ${limit} bytes`);
      await writer.write(chunk);
    }
    await writer.finish();
  } finally {
    await file.close();
  }
};

/** Owns the descriptor. */
const readerOf = (fd: number, signal: AbortSignal): Socket => {
  const pipe = new Socket({ fd, readable: true, writable: false });
  pipe.on('error', () => undefined);
  const cut = (): void => void pipe.destroy(failed('it took too long'));
  if (signal.aborted) cut();
  else signal.addEventListener('abort', cut, { once: true });
  return pipe;
};

/** How far QEMU is, until it has told all; throws when it could not. */
const follow = async (
  monitor: QemuMonitor,
  handle: VmHandle,
  { progress }: CoreDumping,
  copied: Promise<void>,
): Promise<void> => {
  for (;;) {
    const { status, completed, total } = await monitor.guarded(monitor.ask<DumpStatus>(handle, 'query-dump'));
    if (status === 'completed') return;
    if (status !== 'active') {
      // It fails, too, when what reads it has.
      await Promise.race([copied, delay(pollMs)]);
      throw failed(`its dump is ${status}`);
    }
    progress(completed, total);
    await Promise.race([copied.then(() => delay(pollMs)), delay(pollMs)]);
  }
};

/**
 * QEMU tells its memory through a pipe whose other end only we hold, so it never has the file: whatever ends us ends the
 * dump (QEMU has no command for that), and QEMU then goes on by itself with a guest that ran.
 */
export const dumpQemuMemory = async (monitor: QemuMonitor, handle: VmHandle, dumping: CoreDumping): Promise<void> => {
  const { formats } = await monitor.guarded(
    monitor.ask<{ formats: string[] }>(handle, 'query-dump-guest-memory-capability'),
  );
  const { format, limit } = dumping;
  if (!formats.includes(format)) throw noCoreDump(`The QEMU of its host writes ${formats.join(', ')}, not ${format}.`);
  const path = join(socketFolder(handle), coreDumpPipe);
  await unlinkAll(socketFolder(handle), [coreDumpPipe]);
  const signal = AbortSignal.any([
    dumping.signal,
    AbortSignal.timeout(deadlines.perGib * Math.max(1, Math.ceil(limit / 2 ** 30))),
  ]);
  await makePipe(path, handle.user);
  const pipe = readerOf(reading(path), signal);
  const copied = copy(pipe, dumping);
  // Looked at below; what fails there ends QEMU's part of it.
  copied.catch(() => pipe.destroy());
  try {
    await beginDump(monitor, handle, path, format);
    await follow(monitor, handle, dumping, copied);
    await Promise.race([
      copied,
      delay(deadlines.end, undefined, { ref: false }).then(() =>
        Promise.reject(failed('it does not end what it tells')),
      ),
    ]);
  } catch (error) {
    if (unanswered(error) && (await waitGone(handle.process, deadlines.gone)))
      throw failed('it ended while its memory was written', error);
    throw error;
  } finally {
    pipe.destroy();
    await copied.catch(() => undefined);
  }
};

/** Returns when QEMU has opened the pipe. It waits for a reader with all that it does, so there is one until then. */
const beginDump = async (
  monitor: QemuMonitor,
  handle: VmHandle,
  path: string,
  format: CoreDumping['format'],
): Promise<void> => {
  const reader = reading(path);
  try {
    await monitor.converse(handle, (qmp) =>
      qmp.execute(
        'dump-guest-memory',
        { paging: false, protocol: `file:${path}`, detach: true, format },
        deadlines.begin,
      ),
    );
  } finally {
    closeSync(reader);
  }
};

/** A dump without a reader fails, and its guest goes on; one that waits for a reader is given one for that. */
export const settleQemuDump = async (monitor: QemuMonitor, handle: VmHandle, signal: AbortSignal): Promise<VmState> => {
  const path = join(socketFolder(handle), coreDumpPipe);
  const end = Date.now() + deadlines.settle;
  while (isRunning(handle.process)) {
    signal.throwIfAborted();
    const left = openPipe(path);
    if (left !== null) closeSync(left);
    const state = await idleState(monitor, handle).catch(async (error: unknown) => {
      if (Date.now() < end && unanswered(error)) return null;
      throw error;
    });
    if (state !== null) {
      await unlinkAll(socketFolder(handle), [coreDumpPipe]);
      return state;
    }
    if (Date.now() > end)
      throw new VerbFailure('vmm_unresponsive', 'QEMU does not come to an end of a core dump.', false);
    await delay(pollMs, undefined, { signal });
  }
  return 'stopped';
};

/** Its state when no dump is at work; null while one is. */
const idleState = async (monitor: QemuMonitor, handle: VmHandle): Promise<VmState | null> => {
  const { status } = await monitor.guarded(monitor.ask<DumpStatus>(handle, 'query-dump'));
  const state = await monitor.status(handle);
  return status === 'active' || state === 'save-vm' ? null : stateOf(state);
};

const unanswered = (error: unknown): boolean => error instanceof VerbFailure && error.code === 'vmm_unresponsive';
