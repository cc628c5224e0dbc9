import type { WebSocket } from 'ws';
import type { CliContext } from '../../../core/cli/cli-context';
import { CliFailure, exitCodes } from '../../../core/cli/cli-failure';

/** Ctrl+]. */
const detachKey = 0x1d;
/** How much typed or piped input may wait for the network before reading stops. */
const highWaterBytes = 256 * 1024;

/**
 * Joins the terminal to an instance's serial console until the user leaves with Ctrl+], the server ends it, or piped
 * input and the console are both done. The terminal is as before in every case.
 */
export const openConsole = async (context: CliContext, ref: string): Promise<void> => {
  const { path } = await context.request('post', '/instances/{ref}/actions/console', {
    path: { ref },
    query: { project: context.project() },
  });
  const socket = await context.socket(path);
  const { stdin, stdout } = process;
  const terminal = stdin.isTTY === true;
  if (terminal) context.info(`Connected to ${ref}. Ctrl+] leaves the console.`);
  let left = false;
  const leave = (): void => {
    left = true;
    socket.close(1000);
  };
  const resize = (): void => {
    if (stdout.isTTY && socket.readyState === socket.OPEN)
      socket.send(JSON.stringify({ resize: { cols: stdout.columns, rows: stdout.rows } }));
  };
  const onInput = (chunk: Buffer): void => {
    const end = terminal ? chunk.indexOf(detachKey) : -1;
    const typed = end < 0 ? chunk : chunk.subarray(0, end);
    if (typed.length > 0) send(socket, typed);
    if (end >= 0) leave();
  };
  // A signal must not leave the terminal raw; the exit code is the shell's own for it.
  const onSignal = (): void => leave();
  const ended = new Promise<{ code: number; reason: string }>((resolve, reject) => {
    socket.on('message', (data: Buffer, binary: boolean) => {
      if (binary) stdout.write(data);
    });
    socket.once('close', (code: number, reason: Buffer) => resolve({ code, reason: reason.toString('utf8') }));
    socket.once('error', reject);
  });
  try {
    if (terminal) stdin.setRawMode(true);
    process.on('SIGWINCH', resize);
    process.once('SIGTERM', onSignal);
    process.once('SIGHUP', onSignal);
    resize();
    stdin.on('data', onInput);
    if (!terminal) stdin.once('end', leave);
    stdin.resume();
    const { code, reason } = await ended;
    if (!left && code !== 1000)
      throw new CliFailure(`The console was closed: ${reason || `code ${code}`}.`, {
        exitCode: exitCodes.failed,
        code: 'console_closed',
      });
  } finally {
    process.off('SIGWINCH', resize);
    process.off('SIGTERM', onSignal);
    process.off('SIGHUP', onSignal);
    stdin.off('data', onInput);
    stdin.off('end', leave);
    if (terminal) stdin.setRawMode(false);
    stdin.pause();
    socket.terminate();
    if (terminal) context.info(`\nLeft the console of ${ref}.`);
  }
};

const send = (socket: WebSocket, data: Buffer): void => {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(data, { binary: true }, () => {
    if (process.stdin.isPaused() && socket.bufferedAmount < highWaterBytes) process.stdin.resume();
  });
  if (socket.bufferedAmount > highWaterBytes) process.stdin.pause();
};
