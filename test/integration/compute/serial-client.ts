import { constants, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { ReadStream } from 'node:tty';

/** The other end of a serial console: what the guest said, and a way to type. */
export class SerialClient {
  private text = '';
  private readonly waiters = new Set<() => void>();

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('data', (chunk: string) => {
      this.text += chunk;
      for (const wake of this.waiters) wake();
    });
  }

  static connect(path: string): Promise<SerialClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once('connect', () => resolve(new SerialClient(socket)));
      socket.once('error', reject);
    });
  }

  /** The other end of a pty. */
  static async terminal(path: string): Promise<SerialClient> {
    const stream = new ReadStream(openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK));
    stream.setRawMode(true);
    return new SerialClient(stream);
  }

  type(text: string): void {
    this.socket.write(text);
  }

  /** Waits until the guest has said `wanted` since the last match, and forgets everything up to it. */
  async expect(wanted: string, timeoutMs = 20_000): Promise<void> {
    await this.find(wanted, timeoutMs, (text) => {
      const at = text.indexOf(wanted);
      return at < 0 ? null : { end: at + wanted.length, found: wanted };
    });
  }

  /** As `expect`; returns what the pattern's first group matched. */
  read(pattern: RegExp, timeoutMs = 20_000): Promise<string> {
    return this.find(pattern.source, timeoutMs, (text) => {
      const match = pattern.exec(text);
      return match === null ? null : { end: match.index + match[0].length, found: match[1] ?? '' };
    });
  }

  private async find(
    wanted: string,
    timeoutMs: number,
    look: (text: string) => { end: number; found: string } | null,
  ): Promise<string> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const seen = look(this.text);
      if (seen !== null) {
        this.text = this.text.slice(seen.end);
        return seen.found;
      }
      const left = end - Date.now();
      if (left <= 0) throw new Error(`the guest did not say "${wanted}"; it said "${this.text}"`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, left);
        const waiters = this.waiters;
        function done(): void {
          clearTimeout(timer);
          waiters.delete(done);
          resolve();
        }
        waiters.add(done);
      });
    }
  }

  /** Waits until the other side has hung up. */
  async ended(): Promise<void> {
    if (this.socket.closed) return;
    await new Promise<void>((resolve) => this.socket.once('close', () => resolve()));
  }

  close(): void {
    this.socket.destroy();
  }
}
