import { createWebSocketStream } from 'ws';
import type { CliContext } from '../../../core/cli/cli-context';
import { CliFailure, exitCodes } from '../../../core/cli/cli-failure';

/**
 * Joins standard input and output to a port of an instance's guest until the guest ends the stream, or a signal comes. The
 * end of the input alone ends nothing: what the guest still has to say comes.
 */
export const openVsock = async (context: CliContext, ref: string, port: number): Promise<void> => {
  const { path } = await context.request('post', '/instances/{ref}/actions/vsock', {
    path: { ref },
    query: { project: context.project() },
    body: { port },
  });
  const socket = await context.socket(path);
  const { stdin, stdout } = process;
  const stream = createWebSocketStream(socket);
  let left = false;
  const leave = (): void => {
    left = true;
    socket.close(1000);
  };
  const ended = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code: number, reason: Buffer) => resolve({ code, reason: reason.toString('utf8') }));
    stream.on('error', () => resolve({ code: 1006, reason: 'the connection was lost' }));
    // Whoever reads has gone.
    stdout.once('error', leave);
  });
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.once(signal, leave);
  try {
    stdin.pipe(stream, { end: false });
    stream.pipe(stdout, { end: false });
    const { code, reason } = await ended;
    if (!left && code !== 1000)
      throw new CliFailure(`The stream was closed: ${reason || `code ${code}`}`, {
        exitCode: exitCodes.failed,
        code: 'stream_closed',
      });
  } finally {
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.off(signal, leave);
    stdin.unpipe(stream);
    stdin.pause();
    socket.terminate();
  }
};
