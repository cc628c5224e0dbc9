import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * Passes connections on, until it is told to hang: from then on it takes what comes, and nothing comes back, as from a
 * process that was stopped.
 */
export class HangingProxy {
  private readonly sockets = new Set<Socket>();
  private hangs = false;
  used = false;
  private readonly server = createServer((client) => {
    this.used = true;
    this.keep(client);
    if (this.hangs) return void client.resume();
    const target = this.keep(connect(this.targetPort, '127.0.0.1'));
    client.pipe(target).pipe(client);
  });

  private constructor(private readonly targetPort: number) {}

  static async start(targetPort: number): Promise<HangingProxy> {
    const proxy = new HangingProxy(targetPort);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  hang(): void {
    this.hangs = true;
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.resume();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    return socket;
  }
}
