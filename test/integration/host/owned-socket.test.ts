import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectOwned } from '../../../src/core/host/files/owned-socket';

/** Listens, and takes no connection: they wait until it ends, and then they are reset. */
const deaf = `require('node:net').createServer().listen(process.argv[1], () => {
  process.stdout.write('listening');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
})`;

describe('a connection to the socket of a program', () => {
  let directory: string;
  const programs: ChildProcess[] = [];
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'vc-owned-'));
  });
  afterAll(() => {
    for (const program of programs) program.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  it('tells whoever made it that the program died, at whatever moment', async () => {
    const path = join(directory, 'socket');
    const program = spawn(process.execPath, ['-e', deaf, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    programs.push(program);
    await once(program.stdout, 'data');
    // It dies after the connection was made, while the way to it is put away: the kernel has told us before we listen.
    const { closeSync } = fs;
    const closing = jest.spyOn(fs, 'closeSync').mockImplementationOnce((entry) => {
      program.kill('SIGKILL');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      closeSync(entry);
    });
    const socket = await connectOwned(path, process.getuid?.() ?? 0);
    const [error] = (await once(socket, 'error').catch((reason: unknown) => [reason])) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(closing).toHaveBeenCalled();
    closing.mockRestore();
  });
});
