import { injectable } from 'inversify';
import type { WebSocket } from 'ws';
import { SocketRoutes, type SocketRoute } from '../../../../core/http/sockets/socket-route';
import { NodeCaller } from '../../../../core/m2m/management/node-caller';
import { ConsoleService, type ConsoleTarget } from './console.service';

/** Bytes that may wait for a slow viewer before it is cut off. */
const maxBuffered = 4 * 1024 * 1024;

/** `GET /api/v1/console?ticket=`: the bytes of a guest's serial line, both ways. */
@injectable()
export class ConsoleSocket extends SocketRoutes {
  constructor(
    private readonly consoles: ConsoleService,
    private readonly nodes: NodeCaller,
  ) {
    super();
  }

  override socketRoutes(): SocketRoute[] {
    const serial: SocketRoute<ConsoleTarget> = {
      path: '/console',
      admit: (_req, query) => this.consoles.redeem(query.get('ticket') ?? ''),
      open: (socket, target, signal) => this.open(socket, target, signal),
    };
    return [serial as SocketRoute];
  }

  private async open(socket: WebSocket, target: ConsoleTarget, signal: AbortSignal): Promise<void> {
    // Typed keys may come before the host has answered; they are held back, not lost.
    socket.pause();
    let line;
    try {
      line = await this.nodes.stream(target.hostId, `/streams/instances/${target.instanceId}/console`);
    } catch (error) {
      socket.resume();
      socket.close(1011, error instanceof Error ? error.message.slice(0, 100) : 'the host did not answer');
      return;
    }
    if (signal.aborted) return void line.destroy();
    // Nothing more goes either way, whatever is still buffered.
    signal.addEventListener('abort', () => line.destroy(), { once: true });
    line.on('data', (chunk: Buffer) => {
      if (socket.bufferedAmount > maxBuffered) return socket.terminate();
      socket.send(chunk, { binary: true });
    });
    line.on('close', () => socket.close(1000));
    line.on('error', () => socket.close(1011, 'the console was cut'));
    // A serial line has no window size: control frames (text) of terminals that send one are accepted and have nothing
    // to act on.
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary && !line.destroyed) line.write(data);
    });
    socket.on('close', () => line.destroy());
    socket.on('error', () => line.destroy());
    socket.resume();
  }
}
