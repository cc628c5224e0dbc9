import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialVsock } from './ch-vsock';

describe('a stream to a port of a guest', () => {
  const directory = mkdtempSync(join(tmpdir(), 't-vsock-'));
  const path = join(directory, 'vsock.sock');
  const user = process.getuid?.() ?? 0;
  let server: Server | undefined;
  let heard = '';
  const answering = async (answer: (socket: Socket) => void): Promise<void> => {
    heard = '';
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (chunk: Buffer) => {
        heard += chunk.toString();
        answer(socket);
      });
    });
    server.listen(path);
    await once(server, 'listening');
  };
  afterEach(() => server?.close());
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const dial = (timeoutMs = 2000): Promise<Socket> => dialVsock(path, user, 22, timeoutMs);
  const all = async (socket: Socket): Promise<string> => {
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text;
  };

  it('asks with a whole line, and leaves the guest what comes behind the answer', async () => {
    await answering((socket) => socket.end('OK 1073741824\nSSH-2.0-guest\n\nmore'));
    expect(await all(await dial())).toBe('SSH-2.0-guest\n\nmore');
    expect(heard).toBe('CONNECT 22\n');
  });

  it('waits for an answer in pieces', async () => {
    await answering((socket) => {
      socket.write('O');
      setTimeout(() => socket.write('K 10'), 20);
      setTimeout(() => socket.end('24\nhello'), 40);
    });
    expect(await all(await dial())).toBe('hello');
  });

  it.each([
    ['cuts it off', (socket: Socket) => void socket.destroy()],
    ['says something else', (socket: Socket) => void socket.write('NO 22\n')],
    ['says too much', (socket: Socket) => void socket.write('x'.repeat(100))],
  ])('is refused when the VMM %s', async (_how, answer) => {
    await answering(answer);
    await expect(dial()).rejects.toMatchObject({ code: 'vsock_refused', permanent: true });
  });

  it('is not waited for without end', async () => {
    await answering(() => undefined);
    await expect(dial(50)).rejects.toMatchObject({ code: 'vsock_silent', permanent: false });
  });

  it('goes to no socket of somebody else, and to none that is not there', async () => {
    await answering((socket) => socket.end('OK 1\n'));
    await expect(dialVsock(path, user + 1, 22)).rejects.toMatchObject({ code: 'vsock_silent' });
    await expect(dialVsock(`${path}.none`, user, 22)).rejects.toMatchObject({ code: 'no_vsock', permanent: true });
  });
});
