import type { WebSocket } from 'ws';
import { type NodeCaller, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import { joinSocket } from './join-socket';

/** Of a stream that its host will not open however often it is asked; the reason says why. */
const refusedFor: Record<string, string | null> = {
  no_screen: null,
  no_vsock: null,
  vsock_refused: null,
  too_many_guest_streams: null,
  not_found: 'the agent on its host is too old for this: upgrade it',
};
/** Longest reason of a close frame, in bytes. */
const longestReason = 123;

/** Joins a viewer's socket to a stream of a host, as `joinSocket` says; one that its host does not open closes it and says why. */
export const joinHostStream = async (
  nodes: NodeCaller,
  socket: WebSocket,
  { hostId, path, slow }: { hostId: string; path: string; slow: 'cut' | 'wait' },
  signal: AbortSignal,
): Promise<void> => {
  // Typed keys may come before the host has answered; they are held back, not lost.
  socket.pause();
  let line;
  try {
    line = await nodes.stream(hostId, path);
  } catch (error) {
    socket.resume();
    const { code, reason } = refusal(error);
    return socket.close(
      code,
      Buffer.from(reason)
        .subarray(0, longestReason)
        .toString()
        .replace(/\uFFFD$/, ''),
    );
  }
  if (signal.aborted || socket.readyState !== socket.OPEN) return void line.destroy();
  joinSocket(socket, line, signal, slow);
  socket.resume();
};

const refusal = (error: unknown): { code: number; reason: string } => {
  const reason = error instanceof Error ? error.message : 'the host did not answer';
  if (!(error instanceof NodeVerbError) || !Object.hasOwn(refusedFor, error.code)) return { code: 1011, reason };
  return { code: 4409, reason: refusedFor[error.code] ?? reason };
};
