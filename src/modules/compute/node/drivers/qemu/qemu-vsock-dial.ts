import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { findProgram } from '../../../../../core/host/processes/find-program';
import { sandboxed } from '../../../../../core/host/sandbox/sandbox';
import { streamOpenMs } from '../../../../../core/m2m/management/node-route';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import { noVsock } from '../vmm-driver';
import { vsockRefused, vsockSilent } from '../common/vsock-failures';

/** Carries one stream, for Node knows no sockets of this family. */
export const vsockProgram = 'socat';

/** Milliseconds for a connection; said while whoever asked still listens. */
const deadlineMs = streamOpenMs - 2000;
/** Descriptor of its end of ours. */
const streamFd = 3;
/** Characters of what it says that are looked at. */
const saidMost = 4096;
/** Said once the guest has accepted. */
const carries = 'carries';

/**
 * With the connection as its standard input and output. A program for each direction, for one that has both waits with one
 * until it can go on with the other: where each side sends much, both would wait for ever. The end of a direction is handed
 * on, and a connection that is cut off is the end of both.
 */
const script = [
  `echo ${carries} >&2`,
  `${vsockProgram} -u FD:${streamFd} FD:1,shut-down & ${vsockProgram} -u FD:0 FD:${streamFd}`,
  `${vsockProgram} -u OPEN:/dev/null FD:${streamFd},shut-down`,
  'wait',
].join('; ');

/**
 * Until its sandbox is made bubblewrap is two processes, of which the inner one does not end with the outer one yet, but
 * both are one group; from then on what is in the sandbox ends with bubblewrap.
 */
const endGroup = ({ pid, exitCode, signalCode }: ChildProcess): void => {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** A stream that a program carries is over when the program is. */
const carried = (child: ChildProcess): Socket => {
  const stdio = child.stdio as unknown as (Socket | null)[];
  const socket = stdio[streamFd] as Socket;
  // Else Node reads it to its end as soon as the program ends, also when nobody has taken it over yet.
  stdio[streamFd] = null;
  // Whoever takes it over hears of its end by its closing.
  socket.on('error', () => undefined);
  socket.once('close', () => endGroup(child));
  return socket;
};

/** Resolves when the program has connected; rejects with why not. */
const connected = (child: ChildProcess, port: number, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = '';
    const errors = child.stderr as Readable;
    const timer = setTimeout(() => reject(vsockSilent()), timeoutMs);
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      how();
    };
    errors.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-saidMost);
      if (said.includes(carries)) settle(resolve);
    });
    child.once('error', (error) => settle(() => reject(error)));
    child.once('close', () => settle(() => reject(failureOf(said, port))));
  });

const failureOf = (said: string, port: number): Error => {
  // The kernel's words: a guest says that nothing listens, says nothing, or has gone.
  if (said.includes('Connection reset by peer')) return vsockRefused(port);
  if (/Connection timed out|No such device/.test(said)) return vsockSilent();
  return new VerbFailure(
    'vsock_unreachable',
    'This host cannot reach the ports of its guests.',
    false,
    {},
    { detail: said.trim().slice(-500) },
  );
};

/**
 * A stream to a port of the guest that has that number: a program in a sandbox, as that user, which ends with the stream
 * and with us. Throws `VerbFailure` `no_vsock`, `vsock_refused`, `vsock_silent`, `vsock_unreachable`.
 */
export const dialCid = async (
  cid: number,
  port: number,
  user: number,
  timeoutMs: number = deadlineMs,
): Promise<Socket> => {
  const carrier = findProgram(vsockProgram);
  if (carrier === null) throw noVsock();
  const [program, args] = await sandboxed(
    carrier,
    [`VSOCK-CONNECT:${cid}:${port}`, `EXEC:"sh -c '${script}'",nofork`],
    { user, network: 'none', bound: true },
  );
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    cwd: '/',
    env: { LC_ALL: 'C' },
  });
  const socket = carried(child);
  try {
    await connected(child, port, timeoutMs);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};
