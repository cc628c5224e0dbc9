import WebSocket from 'ws';
import { eventually } from './eventually';

/** A viewer of a serial console. */
export class TestConsole {
  text = '';

  constructor(private readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      this.text += data.toString('utf8');
    });
  }

  type(keys: string): void {
    this.socket.send(Buffer.from(keys), { binary: true });
  }

  /** Resolves with the match once the guest has printed it. */
  async until(pattern: RegExp, timeoutMs = 60_000): Promise<RegExpExecArray> {
    return eventually(
      `${pattern} on the console; it shows:\n${this.text.slice(-2000)}`,
      () => pattern.exec(this.text) ?? false,
      timeoutMs,
    ).catch(() => {
      throw new Error(`not on the console within ${timeoutMs / 1000} s: ${pattern}\n${this.text.slice(-3000)}`);
    });
  }

  /** Types the line until the answer comes: what is typed while a guest boots is lost. */
  async ask(line: string, answer: RegExp, timeoutMs = 90_000): Promise<RegExpExecArray> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      this.type(`\n${line}\n`);
      try {
        return await this.until(answer, 3_000);
      } catch (error) {
        if (Date.now() > end) throw error;
      }
    }
  }

  close(): void {
    this.socket.close();
  }
}
