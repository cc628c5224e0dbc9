import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GuestAgent } from './guest-agent';

const user = process.getuid?.() ?? 0;

describe('the agent in a guest', () => {
  let directory: string;
  let path: string;
  let server: Server;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 't-agent-'));
    path = join(directory, 'agent.sock');
  });
  afterEach(() => {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Answers each line of the client's, as the guest likes. */
  const guest = async (answer: (asked: Record<string, unknown>, socket: Socket) => void): Promise<void> => {
    server = createServer((socket) => {
      let text = '';
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1').replaceAll('\xff', '');
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
          answer(JSON.parse(text.slice(0, end)) as Record<string, unknown>, socket);
          text = text.slice(end + 1);
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
  };
  const say = (socket: Socket, what: unknown): void => void socket.write(`${JSON.stringify(what)}\n`);
  /** As qemu-guest-agent does. */
  const synchronise = (asked: Record<string, unknown>, socket: Socket): void => {
    socket.write(Buffer.from([0xff]));
    say(socket, { return: (asked['arguments'] as { id: number }).id });
  };
  const ask = (timeoutMs = 5000): Promise<unknown> =>
    GuestAgent.converse(path, user, timeoutMs, (agent) => agent.execute('guest-get-time'));

  it('answers, whatever it had to say to somebody before', async () => {
    await guest((asked, socket) => {
      if (asked['execute'] !== 'guest-sync-delimited') return say(socket, { return: 42 });
      say(socket, { return: 'of before' });
      socket.write(Buffer.from([0xff]));
      say(socket, { return: 1 });
      synchronise(asked, socket);
    });
    expect(await ask()).toBe(42);
  });

  it('says why it does not do it', async () => {
    await guest((asked, socket) =>
      asked['execute'] === 'guest-sync-delimited'
        ? synchronise(asked, socket)
        : say(socket, { error: { class: 'CommandNotFound', desc: 'The command guest-get-time has been disabled' } }),
    );
    await expect(ask()).rejects.toThrow('guest-get-time: The command guest-get-time has been disabled');
  });

  it.each<[string, (asked: Record<string, unknown>, socket: Socket) => void, RegExp]>([
    ['says nothing', () => undefined, /in time/],
    ['goes away', (_asked, socket) => void socket.destroy(), /closed/],
    ['talks without end', (_asked, socket) => void socket.write(Buffer.alloc(100_000, 'x')), /too much/],
    [
      'answers in no JSON',
      (asked, socket) =>
        asked['execute'] === 'guest-sync-delimited' ? synchronise(asked, socket) : void socket.write('{"return"\n'),
      /JSON/,
    ],
    [
      'answers neither well nor badly',
      (asked, socket) =>
        asked['execute'] === 'guest-sync-delimited' ? synchronise(asked, socket) : say(socket, { ok: true }),
      /invalid|Invalid/,
    ],
  ])('is left when it %s', async (_what, answer, words) => {
    await guest(answer);
    await expect(ask(300)).rejects.toThrow(words);
  });
});
