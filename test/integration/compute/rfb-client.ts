import type { Socket } from 'node:net';

/** The first words of RFB as a viewer says them (RFC 6143), enough to be let in or turned away. */
export class RfbClient {
  private received = Buffer.alloc(0);
  private waiting: (() => void) | undefined;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
  over = false;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.waiting?.();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.over = true;
        this.waiting?.();
        resolve();
      }),
    );
  }

  /** `shared`: it lets others look too. Returns what the server says of the screen, or null when it turns it away. */
  static async join(socket: Socket, shared: boolean): Promise<{ viewer: RfbClient; size: [number, number] | null }> {
    const viewer = new RfbClient(socket);
    const version = await viewer.read(12);
    if (version?.toString() !== 'RFB 003.008\n') throw new Error(`no RFB: ${version?.toString() ?? 'closed'}`);
    socket.write(version);
    const count = (await viewer.read(1))?.[0] ?? 0;
    if (!(await viewer.read(count))?.includes(1)) throw new Error('it wants a password');
    socket.write(Buffer.from([1]));
    if ((await viewer.read(4))?.readUInt32BE() !== 0) throw new Error('it refuses anonymous viewers');
    socket.write(Buffer.from([shared ? 1 : 0]));
    const init = await viewer.read(24);
    return { viewer, size: init && [init.readUInt16BE(0), init.readUInt16BE(2)] };
  }

  close(): void {
    this.socket.destroy();
  }

  /** So many bytes, or null when the connection ends before. */
  private async read(bytes: number): Promise<Buffer | null> {
    while (this.received.length < bytes) {
      if (this.over) return null;
      await new Promise<void>((resolve) => (this.waiting = resolve));
    }
    const taken = this.received.subarray(0, bytes);
    this.received = this.received.subarray(bytes);
    return taken;
  }
}
