import { createServer, type Server, type Socket } from 'node:net';
import { ApiFailure } from './api-failure';
import { bindError } from './serial-port';

/** Longest line that a connection may begin with, in bytes. */
const longestLine = 32;
/** The guest's own numbers of ports that it answers from. */
let nextPort = 1024;

/**
 * The host's side of a guest's vsock: who connects says `CONNECT <port>` and is answered `OK <port>` when something in the
 * guest listens there, and cut off else. A guest without a driver answers nothing.
 */
export class VsockPort {
  private server: Server | null = null;
  private readonly streams = new Set<Socket>();

  /** @param listens takes the stream of a port at which something listens; null: the guest has no driver */
  constructor(private readonly listens: ((port: number) => ((stream: Socket) => void) | undefined) | null) {}

  /** Throws `ApiFailure` under `heading`. A file that lies at the path already is not taken over. */
  async open(path: string, heading: string): Promise<void> {
    await this.close();
    const server = createServer((socket) => this.accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          new ApiFailure(
            'internal',
            heading,
            'Error from device manager',
            'Cannot create virtio-vsock backend',
            'Error binding to the host-side Unix socket',
            bindError(error, path),
          ),
        ),
      );
      server.listen(path, resolve);
    });
    this.server = server;
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = null;
    for (const socket of this.streams) socket.destroy();
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  private accept(socket: Socket): void {
    this.streams.add(socket);
    socket.once('close', () => this.streams.delete(socket));
    socket.on('error', () => undefined);
    if (this.listens === null) return;
    let line = '';
    const read = (): void => {
      for (;;) {
        const byte = socket.read(1) as Buffer | null;
        if (byte === null) return;
        if (byte.toString('latin1') === '\n') break;
        line += byte.toString('latin1');
        if (line.length > longestLine) return void socket.destroy();
      }
      socket.off('readable', read);
      const port = /^connect (\d{1,10})$/i.exec(line)?.[1];
      const take = port === undefined ? undefined : this.listens?.(Number(port));
      if (!take) return void socket.destroy();
      socket.write(`OK ${nextPort++}\n`);
      take(socket);
    };
    socket.on('readable', read);
  }
}
