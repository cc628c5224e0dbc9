import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Readable, Writable } from 'node:stream';
import { processStartTime, signalProcess, type ProcessIdentity } from '../processes/process-identity';
import { type Chain, type LauncherNews, type LauncherOrder, blockFd, infoFd } from './launcher-messages';

/** A chain that is at work. */
interface Started {
  child: ChildProcess;
  /** Its process, once it is known; null when there will be none. */
  program: Promise<ProcessIdentity | null>;
  /** The program has not begun, and may not before it is told. */
  heldBack: boolean;
}

const chains = new Map<number, Started>();
const tell = (news: LauncherNews): void => {
  // Nobody may be there any more.
  if (process.connected) process.send?.(news, () => undefined);
};

/**
 * By number: output to the log, then `infoFd`, `blockFd` where it is held back, `eventFd`, `statusFd` and `deviceFd` where
 * there are such files.
 */
const descriptors = (log: number, heldBack: boolean, files: readonly (number | null)[]): StdioOptions => {
  const all = ['ignore', log, log, 'pipe', heldBack ? 'pipe' : null, ...files] as const;
  return all.slice(0, all.findLastIndex((one) => one !== null) + 1).map((one) => one ?? 'ignore');
};

const childPid = (info: string): number | null => {
  try {
    const pid: unknown = (JSON.parse(info) as Record<string, unknown>)['child-pid'];
    return typeof pid === 'number' ? pid : null;
  } catch {
    return null;
  }
};

const identified = async (child: ChildProcess): Promise<ProcessIdentity | null> => {
  const pid = childPid(await text(child.stdio[infoFd] as Readable).catch(() => ''));
  const startTime = pid === null ? null : processStartTime(pid);
  return pid === null || startTime === null ? null : { pid, startTime };
};

/**
 * Ends a chain's own process. What has not begun is one group with it, whether it has forked or not, and ends at once
 * with it; what has begun is in a session of its own, and goes on.
 */
const endChain = ({ child, heldBack }: Started): void => {
  if (heldBack && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  else child.kill('SIGKILL');
};

const start = (id: number, chain: Chain): void => {
  const { command, args, logFile, eventFile, statusFile, deviceFile, heldBack, env } = chain;
  const opened: number[] = [];
  const openAs = (flags: string, path: string): number => {
    const fd = openSync(path, flags, 0o600);
    opened.push(fd);
    return fd;
  };
  const fresh = (path: string | null): number | null => (path === null ? null : openAs('w', path));
  try {
    const log = openAs('w', logFile);
    const device = deviceFile === null ? null : openAs('r+', deviceFile);
    const stdio = descriptors(log, heldBack, [fresh(eventFile), fresh(statusFile), device]);
    const child = spawn(command, args, { detached: true, stdio, cwd: '/', env });
    // A chain that has failed reads nothing any more; its end says so.
    if (heldBack) child.stdio[blockFd]?.on('error', () => undefined);
    const program = identified(child);
    chains.set(id, { child, program, heldBack });
    const known = program.then((found) => tell({ id, program: found }));
    const ended = (how: string): void => {
      // Its fork would wait for a word that nobody gives any more.
      if (chains.get(id)?.heldBack === true) void program.then((found) => found && signalProcess(found, 'SIGKILL'));
      chains.delete(id);
      void known.then(() => tell({ id, ended: how }));
    };
    child.once('error', (error) => ended(error.message));
    child.once('exit', (code, signal) => ended(signal ? `ended by ${signal}` : `exit ${code ?? '?'}`));
  } catch (error) {
    tell({ id, failed: error instanceof Error ? error.message : String(error) });
  } finally {
    opened.forEach(closeSync);
  }
};

const letBegin = (id: number, chain: Started): void => {
  const { pid } = chain.child;
  // One that has ended lets nothing begin; that it has is told once we hear of it.
  if (chain.heldBack && (pid === undefined || processStartTime(pid) === null)) return;
  if (chain.heldBack) (chain.child.stdio[blockFd] as Writable).end('\n');
  chain.heldBack = false;
  tell({ id, begun: true });
};

process.on('message', (order: LauncherOrder) => {
  if ('start' in order) return start(order.id, order.start);
  const chain = chains.get(order.id);
  if (!chain) return;
  if (order.then === 'begin') letBegin(order.id, chain);
  else endChain(chain);
});

/**
 * The agent is gone. What runs goes on; what was held back would begin as soon as the other end of its descriptor is
 * closed, which is when this process ends: so it ends before. Nothing is waited for: a chain may hang.
 */
process.once('disconnect', () => {
  for (const chain of chains.values()) if (chain.heldBack) endChain(chain);
  process.exit();
});
