import { injectable } from 'inversify';
import { SocketRoutes, type SocketRoute } from '../../../../core/http/sockets/socket-route';
import { NodeCaller } from '../../../../core/m2m/management/node-caller';
import { joinHostStream } from '../consoles/join-host-stream';
import { VsockService, type VsockTarget } from './vsock.service';

/** `GET /api/v1/vsock?ticket=&port=`: the bytes of a stream to a port of a guest, both ways. */
@injectable()
export class VsockSocket extends SocketRoutes {
  constructor(
    private readonly vsocks: VsockService,
    private readonly nodes: NodeCaller,
  ) {
    super();
  }

  override socketRoutes(): SocketRoute[] {
    const route: SocketRoute<VsockTarget> = {
      path: '/vsock',
      admit: (_req, query) => this.vsocks.redeem(query),
      open: (socket, { hostId, instanceId, port }, signal) =>
        joinHostStream(
          this.nodes,
          socket,
          { hostId, path: `/streams/instances/${instanceId}/vsock/${port}`, slow: 'wait' },
          signal,
        ),
    };
    return [route as SocketRoute];
  }
}
