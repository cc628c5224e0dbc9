import { injectable } from 'inversify';
import type { WebSocket } from 'ws';
import { SocketRoutes, type SocketRoute } from '../../../../core/http/sockets/socket-route';
import { NodeCaller, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import type { ConsoleProtocol } from '../../contract/compute.api';
import { ConsoleService, type ConsoleTarget } from './console.service';
import { joinSocket } from './join-socket';

/** Of a stream that its host will not open however often it is asked; the reason says why. */
const refusedFor = { no_screen: null, not_found: 'the agent on its host is too old for this: upgrade it' } as const;
/** Longest reason of a close frame, in bytes. */
const longestReason = 123;

/** `GET /api/v1/console?ticket=`: the bytes of a guest's serial line, both ways. `GET /api/v1/vnc?ticket=`: of its screen, by RFB. */
@injectable()
export class ConsoleSocket extends SocketRoutes {
  constructor(
    private readonly consoles: ConsoleService,
    private readonly nodes: NodeCaller,
  ) {
    super();
  }

  override socketRoutes(): SocketRoute[] {
    return [this.route('/console', 'serial'), this.route('/vnc', 'vnc')];
  }

  private route(path: string, protocol: ConsoleProtocol): SocketRoute {
    const found: SocketRoute<ConsoleTarget> = {
      path,
      admit: (_req, query) => this.consoles.redeem(query.get('ticket') ?? '', protocol),
      open: (socket, target, signal) => this.open(socket, target, protocol, signal),
    };
    return found as SocketRoute;
  }

  private async open(
    socket: WebSocket,
    { hostId, instanceId }: ConsoleTarget,
    protocol: ConsoleProtocol,
    signal: AbortSignal,
  ): Promise<void> {
    // Typed keys may come before the host has answered; they are held back, not lost.
    socket.pause();
    let line;
    try {
      line = await this.nodes.stream(
        hostId,
        `/streams/instances/${instanceId}/${protocol === 'vnc' ? 'vnc' : 'console'}`,
      );
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
    // A screen is drawn anew for whoever asks; of a serial line each byte comes once.
    joinSocket(socket, line, signal, protocol === 'vnc' ? 'wait' : 'cut');
    socket.resume();
  }
}

const refusal = (error: unknown): { code: number; reason: string } => {
  const reason = error instanceof Error ? error.message : 'the host did not answer';
  if (!(error instanceof NodeVerbError) || !Object.hasOwn(refusedFor, error.code)) return { code: 1011, reason };
  return { code: 4409, reason: refusedFor[error.code as keyof typeof refusedFor] ?? reason };
};
