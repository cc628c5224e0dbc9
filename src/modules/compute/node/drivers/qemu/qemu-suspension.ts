import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, lchown, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { connectOwned } from '../../../../../core/host/files/owned-socket';
import { replaceFile } from '../../../../../core/host/files/replace-file';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { unlinkAll } from '../common/run-files';
import { memoryOf, type SuspendedMemory } from '../common/suspended-memory';
import { socketFolder } from '../common/vmm-files';
import type { VmHandle, VmSpec } from '../vmm-driver';
import type { QmpClient } from './qmp-client';

/** In the VMM's own folder: QEMU writes no files of its own, so what it tells goes through the agent. */
export const suspensionSockets = { out: 'suspend.sock', into: 'resume.sock' } as const;
/** In the folder of what is kept. */
const streamName = 'machine';
/** In the log folder, and with what is kept. */
const commandLineName = 'command-line.json';
const commandLine = z.array(z.string());
/** Milliseconds, for a gibibyte of memory and for each further one. */
const deadlinePerGib = 120_000;
const pollMs = 50;
/** Bytes a second: as fast as it goes. */
const bandwidth = 2 ** 40;

interface Migration {
  status?: string;
  'error-desc'?: string;
}

/** A VMM that was taken over by its guest may tell more than a machine has. */
const atMost = (limit: number): Transform => {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      done(seen > limit ? new Error(`the VMM tells more than ${limit} bytes`) : null, chunk);
    },
  });
};

const listen = async (path: string, user: number): Promise<Server> => {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  // The folder is the VMM's: what lies there by now may be a link.
  await lchown(path, user, user);
  return server;
};

const failed = (detail: string): VerbFailure =>
  new VerbFailure('suspend_failed', 'QEMU could not tell what the machine is in.', true, {}, { detail });

/** Keeps what a paused machine is in. Throws `VerbFailure` `suspend_failed`. */
export const keepMachine = async (
  qmp: QmpClient,
  handle: VmHandle,
  memory: SuspendedMemory,
  limit: number,
): Promise<void> => {
  await copyFile(join(handle.logDir, commandLineName), join(memory.directory, commandLineName)).catch(() => {
    throw new VerbFailure(
      'suspend_unprepared',
      'Devices came or went since it was started, or an older release started it: stop it and start it once.',
      true,
    );
  });
  const socketPath = join(socketFolder(handle), suspensionSockets.out);
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(failed('it took too long')), deadlineOf(limit));
  await unlinkAll(socketFolder(handle), [suspensionSockets.out]);
  const server = await listen(socketPath, handle.user);
  try {
    const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const written = connected.then((socket) =>
      pipeline(socket, atMost(limit), createWriteStream(join(memory.directory, streamName), { mode: 0o600 }), {
        signal: end.signal,
      }),
    );
    // Looked at below, when the migration has ended.
    written.catch(() => undefined);
    await qmp.execute('migrate-set-parameters', { 'max-bandwidth': bandwidth });
    await qmp.execute('migrate', { uri: `unix:${socketPath}` });
    for (;;) {
      const { status, 'error-desc': why } = await qmp.execute<Migration>('query-migrate');
      if (status === 'completed') break;
      if (status === 'failed' || status === 'cancelled') throw failed(why ?? status);
      await delay(pollMs, undefined, { signal: end.signal });
    }
    await written;
  } catch (error) {
    await qmp.execute('migrate_cancel').catch(() => undefined);
    throw error instanceof VerbFailure ? error : failed(error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
    end.abort();
    server.close();
    await unlinkAll(socketFolder(handle), [suspensionSockets.out]);
  }
};

/**
 * Notes what a machine is started with, without the program: whatever a later release would start it with, it goes on in
 * the same machine. Need not last longer than the machine.
 */
export const noteCommandLine = (spec: VmSpec, args: readonly string[]): Promise<void> =>
  writeFile(join(spec.logDir, commandLineName), JSON.stringify(args), { mode: 0o600 });

/** Its devices are not those any more that it was started with: until its next start it cannot be suspended. */
export const forgetCommandLine = ({ logDir }: Pick<VmHandle, 'logDir'>): Promise<void> =>
  rm(join(logDir, commandLineName), { force: true });

/**
 * Its devices are those that it was started with and the ones that `add` returns. Cut in between, or when it fails, it is
 * as after `forgetCommandLine`.
 */
export const lengthenCommandLine = async (
  handle: Pick<VmHandle, 'logDir'>,
  add: () => Promise<string[]>,
): Promise<void> => {
  const path = join(handle.logDir, commandLineName);
  const noted = await readFile(path, 'utf8').catch(() => null);
  await forgetCommandLine(handle);
  const added = await add();
  if (noted !== null) await replaceFile(path, JSON.stringify([...commandLine.parse(JSON.parse(noted)), ...added]));
};

/** With what a suspended machine goes on: its command line of then, and the way by which it is told what was kept. */
export const resumingArguments = async (spec: VmSpec): Promise<string[]> => {
  const noted = commandLine.parse(JSON.parse(await readFile(join(memoryOf(spec).directory, commandLineName), 'utf8')));
  return [...noted, '-incoming', `unix:${join(socketFolder(spec), suspensionSockets.into)}`];
};

/** Tells a QEMU that waits for it what was kept. */
export const tellMachine = async (spec: VmSpec, memory: SuspendedMemory): Promise<void> => {
  const socket = await connectOwned(join(socketFolder(spec), suspensionSockets.into), spec.user);
  await pipeline(createReadStream(join(memory.directory, streamName)), socket, {
    signal: AbortSignal.timeout(deadlineOf(spec.memoryBytes)),
  });
};

const deadlineOf = (bytes: number): number => deadlinePerGib * Math.max(1, Math.ceil(bytes / 2 ** 30));
