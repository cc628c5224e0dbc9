import { randomBytes } from 'node:crypto';
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

  /** Resolves with the match once the guest has printed it, as the first of what comes with and after `after`. */
  async until(pattern: RegExp, timeoutMs = 60_000, after = ''): Promise<RegExpExecArray> {
    return eventually(
      `${pattern} on the console; it shows:\n${this.text.slice(-2000)}`,
      () => (this.text.includes(after) && pattern.exec(this.text.slice(this.text.indexOf(after)))) || false,
      timeoutMs,
    ).catch(() => {
      throw new Error(`not on the console within ${timeoutMs / 1000} s: ${pattern}\n${this.text.slice(-3000)}`);
    });
  }

  /**
   * Gives the shell the line until the answer comes: what is typed while a guest boots is lost. A mark before the line tells
   * the answer from the same one that came earlier, which a viewer is shown too.
   */
  ask(line: string, answer: RegExp, timeoutMs = 90_000): Promise<RegExpExecArray> {
    const mark = `: ${randomBytes(4).toString('hex')};`;
    return this.say(`${mark} ${line}`, answer, timeoutMs, mark);
  }

  /** As `ask`, to whatever listens, word for word: an answer that came before is one too. */
  async say(line: string, answer: RegExp, timeoutMs = 90_000, after = ''): Promise<RegExpExecArray> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      this.type(`\n${line}\n`);
      try {
        return await this.until(answer, 3_000, after);
      } catch (error) {
        if (Date.now() > end) throw error;
      }
    }
  }

  close(): void {
    this.socket.close();
  }
}
