import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { connectOwned } from '../../../../../core/host/files/owned-socket';

/** Bytes of an answer. A guest may tell whatever it likes. */
const longestAnswer = 64 * 1024;
/** Never part of JSON in UTF-8: what comes before it is the answer to somebody else. */
const delimiter = 0xff;

const answer = z.union([
  z.object({ return: z.unknown() }),
  z.object({ error: z.object({ desc: z.string().max(longestAnswer) }) }),
]);

/**
 * The agent in a guest (qemu-guest-agent): one question after the other, as lines of JSON. The guest is a stranger: what
 * it says is bounded in bytes and time. Protocol: QEMU's docs/interop/qemu-ga.rst and qga/qapi-schema.json.
 */
export class GuestAgent {
  private received: Buffer = Buffer.alloc(0);
  private wake = (): void => undefined;
  private failure: Error | null = null;

  private constructor(
    private readonly socket: Socket,
    private readonly end: AbortSignal,
  ) {
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      if (this.received.length > longestAnswer) this.fail(new Error('the agent says too much'));
      this.wake();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => this.fail(new Error('the channel was closed')));
    end.addEventListener('abort', () => this.fail(new Error('the agent does not answer in time')), { once: true });
  }

  /**
   * Talks with the agent at that user's socket, for at most `timeoutMs` altogether. Rejects when it does not answer, or
   * not as agents do, and as `talk`.
   */
  static async converse<T>(
    path: string,
    user: number,
    timeoutMs: number,
    talk: (agent: GuestAgent) => Promise<T>,
  ): Promise<T> {
    const end = AbortSignal.timeout(timeoutMs);
    const socket = await connectOwned(path, user);
    try {
      const agent = new GuestAgent(socket, end);
      await agent.synchronise();
      return await talk(agent);
    } finally {
      socket.destroy();
    }
  }

  /** What the command returns. Rejects with the agent's words when it fails. */
  async execute(command: string, args: Record<string, unknown> = {}): Promise<unknown> {
    this.send(command, args);
    const said = answer.parse(JSON.parse(await this.until(0x0a)));
    if ('error' in said) throw new Error(`${command}: ${said.error.desc}`);
    return said.return;
  }

  /** From here on, what is heard answers what is asked. */
  private async synchronise(): Promise<void> {
    const id = randomInt(2 ** 31);
    // An agent in the middle of a word of somebody before us forgets it.
    this.socket.write(Buffer.from([delimiter]));
    this.send('guest-sync-delimited', { id });
    for (;;) {
      await this.until(delimiter);
      const said = answer.safeParse(JSON.parse(await this.until(0x0a)));
      if (said.success && 'return' in said.data && said.data.return === id) return;
    }
  }

  private send(execute: string, args: Record<string, unknown>): void {
    this.socket.write(`${JSON.stringify({ execute, arguments: args })}\n`);
  }

  private async until(byte: number): Promise<string> {
    for (;;) {
      if (this.failure) throw this.failure;
      const at = this.received.indexOf(byte);
      if (at >= 0) {
        const text = this.received.subarray(0, at).toString('utf8');
        this.received = this.received.subarray(at + 1);
        return text;
      }
      this.end.throwIfAborted();
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }
}
