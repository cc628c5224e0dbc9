import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { connectOwned } from './owned-socket';

describe('a socket in a folder of its owner', () => {
  const me = process.getuid?.() ?? 0;
  let directory: string;
  let server: Server;
  const path = (name: string): string => join(directory, name);
  beforeEach(async () => {
    directory = await mkdtemp('/tmp/t-owned-');
    server = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => server.listen(path('own.sock'), resolve));
  });
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true, force: true });
  });

  it('is connected to', async () => {
    const socket = await connectOwned(path('own.sock'), me);
    const heard: Buffer[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) heard.push(chunk);
    expect(Buffer.concat(heard).toString()).toBe('hello');
  });
  it('is refused when it is another user’s, a link to one, or no socket', async () => {
    await symlink(path('own.sock'), path('link.sock'));
    await writeFile(path('file.sock'), '');
    await expect(connectOwned(path('own.sock'), me + 1)).rejects.toMatchObject({ code: 'EACCES' });
    await expect(connectOwned(path('link.sock'), me)).rejects.toMatchObject({ code: 'EACCES' });
    await expect(connectOwned(path('file.sock'), me)).rejects.toMatchObject({ code: 'EACCES' });
    await expect(connectOwned(path('none.sock'), me)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
