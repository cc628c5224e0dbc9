import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, type ProcessIdentity } from '../../../src/core/host/processes/process-identity';
import {
  spawnSandboxed,
  type SandboxedProcess,
  type SpawnSandboxedOptions,
} from '../../../src/core/host/sandbox/spawn-sandboxed';

/** Apart from what instances and probes of other tests have. */
const user = 1_911_000_001;

describe('a program in a sandbox that outlives us', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp('/tmp/t-sandboxed-');
    await chmod(directory, 0o755);
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const start = (script: string, options: Partial<SpawnSandboxedOptions> = {}): Promise<SandboxedProcess> =>
    spawnSandboxed('/usr/bin/sh', ['-c', script], {
      netns: null,
      logFile: join(directory, 'log'),
      sandbox: { user },
      ...options,
    });
  const said = async ({ ended }: SandboxedProcess): Promise<string[]> => {
    await ended;
    return (await readFile(join(directory, 'log'), 'utf8')).trim().split(/\s+/).sort();
  };

  it('begins when what is done before has ended, and finds what that did', async () => {
    const file = join(directory, 'made-before');
    await writeFile(file, '');
    let seen: { process: ProcessIdentity; command: string } | undefined;
    const before = async (process: ProcessIdentity): Promise<void> => {
      // It may still be on its way in, but never there.
      seen = { process, command: (await readFile(`/proc/${process.pid}/cmdline`, 'utf8')).split('\0')[0] ?? '' };
      await writeFile(file, 'all-of-it');
    };
    const program = await start(`cat ${file}`, { before, sandbox: { user, readOnly: [file] } });
    expect(await said(program)).toEqual(['all-of-it']);
    expect(seen?.process).toEqual(program.process);
    expect(seen?.command).toMatch(/bwrap$/);
    expect(await program.ended).toBe('exit 0');
  });

  it('never begins when what is done before fails, and leaves nothing', async () => {
    let process: ProcessIdentity | undefined;
    const before = (of: ProcessIdentity): Promise<void> => {
      process = of;
      return Promise.reject(new Error('no room'));
    };
    await expect(start('echo begun; sleep 60', { before })).rejects.toThrow('no room');
    expect(process && isRunning(process)).toBe(false);
    expect(await readFile(join(directory, 'log'), 'utf8')).toBe('');
  });

  it('has no device but the harmless ones, and no descriptor of ours but its output and what it is given', async () => {
    const eventFile = join(directory, 'events');
    const before = (): Promise<void> => Promise.resolve();
    expect(await said(await start('cd /dev; find . -mindepth 1', { before }))).toEqual([
      './null',
      './random',
      './urandom',
    ]);
    // The fourth is the look's own. Above the first ten may be what the test itself was started with.
    expect(await said(await start('ls /proc/self/fd | grep -x .', { before }))).toEqual(['0', '1', '2', '3']);
    expect(await said(await start('ls /proc/self/fd | grep -x .; echo told >&5', { before, eventFile }))).toEqual([
      '0',
      '1',
      '2',
      '3',
      '5',
    ]);
    expect(await readFile(eventFile, 'utf8')).toBe('told\n');
  });
});
