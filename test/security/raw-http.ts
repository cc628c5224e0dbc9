import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';

export interface RawAnswer {
  /** Status lines in their order, as numbers. */
  statuses: number[];
  text: string;
}

/** A connection on which a test writes bytes as they are. */
export class RawHttp {
  private text = '';
  readonly closed: Promise<RawAnswer>;

  private constructor(readonly socket: TLSSocket) {
    socket.on('data', (chunk: Buffer) => (this.text += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve(this.answer())));
  }

  static async open(port: number, tls: ConnectionOptions = {}): Promise<RawHttp> {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...tls });
    const raw = new RawHttp(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('closed in the handshake')));
    });
    return raw;
  }

  answer(): RawAnswer {
    return { statuses: [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((m) => Number(m[1])), text: this.text };
  }

  write(bytes: string): void {
    this.socket.write(Buffer.from(bytes, 'latin1'));
  }
}

/** Writes a request and takes what comes until the server ends the connection, which it is asked to. */
export const exchange = async (port: number, bytes: string, tls: ConnectionOptions = {}): Promise<RawAnswer> => {
  const raw = await RawHttp.open(port, tls);
  raw.write(bytes);
  const late = setTimeout(() => raw.socket.destroy(), 20_000);
  const answer = await raw.closed;
  clearTimeout(late);
  return answer;
};
