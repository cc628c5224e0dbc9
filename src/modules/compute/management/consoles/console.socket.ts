import { injectable } from 'inversify';
import type { WebSocket } from 'ws';
import { SocketRoutes, type SocketRoute } from '../../../../core/http/sockets/socket-route';
import { NodeCaller } from '../../../../core/m2m/management/node-caller';
import type { ConsoleProtocol } from '../../contract/compute.api';
import { ConsoleService, type ConsoleTarget } from './console.service';
import { joinHostStream } from './join-host-stream';

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

  private open(
    socket: WebSocket,
    { hostId, instanceId }: ConsoleTarget,
    protocol: ConsoleProtocol,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `/streams/instances/${instanceId}/${protocol === 'vnc' ? 'vnc' : 'console'}`;
    // A screen is drawn anew for whoever asks; of a serial line each byte comes once.
    return joinHostStream(this.nodes, socket, { hostId, path, slow: protocol === 'vnc' ? 'wait' : 'cut' }, signal);
  }
}
