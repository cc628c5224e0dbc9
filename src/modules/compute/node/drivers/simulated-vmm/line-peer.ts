import type { Socket } from 'node:net';

/** One end of a conversation in lines. */
export class LinePeer {
  private buffer = '';
  private over = false;
  private readonly waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  private readonly lines: string[] = [];

  constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('data', (text: string) => {
      this.buffer += text;
      const parts = this.buffer.split('\n');
      this.buffer = parts.pop() ?? '';
      for (const line of parts) this.arrived(line);
    });
    socket.once('close', () => {
      this.over = true;
      for (const { reject } of this.waiting.splice(0)) reject(this.gone());
    });
  }

  say(line: string): void {
    this.socket.write(`${line}\n`);
  }

  /** The next line. Rejects when the other side hangs up. */
  hear(): Promise<string> {
    const line = this.lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.over) return Promise.reject(this.gone());
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  close(): void {
    this.socket.destroySoon();
  }

  private arrived(line: string): void {
    const first = this.waiting.shift();
    if (first) first.resolve(line);
    else this.lines.push(line);
  }

  private gone(): Error {
    return new Error('failed to fill whole buffer');
  }
}
