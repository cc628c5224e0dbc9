import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readExitStatus, type ExitStatus } from '../../../src/core/host/sandbox/exit-status';
import { LauncherGone } from '../../../src/core/host/sandbox/launcher-gone';
import {
  isRunning,
  processStartTime,
  waitGone,
  type ProcessIdentity,
} from '../../../src/core/host/processes/process-identity';
import {
  spawnSandboxed,
  type SandboxedProcess,
  type SpawnSandboxedOptions,
} from '../../../src/core/host/sandbox/spawn-sandboxed';
import { killLauncher, parentOf } from './launcher-process';
import { waitFor } from '../../support/wait-for';
import { StalledChain } from './stalled-chain';

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

  it('has a device that it has no right to open, to read and write', async () => {
    const device = join(directory, 'device');
    await writeFile(device, 'secret', { mode: 0o600 });
    const script = `cat <&7; echo; echo told >&7; cat ${device} 2>/dev/null || echo refused`;
    expect(await said(await start(script, { deviceFile: device }))).toEqual(['refused', 'secret']);
    expect(await readFile(device, 'utf8')).toBe('secrettold\n');
    await expect(start('true', { deviceFile: join(directory, 'none') })).rejects.toThrow('ENOENT');
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

  describe('with a file for how it ends', () => {
    const statusFile = (): string => join(directory, 'status');
    const ended = async ({ process: program }: SandboxedProcess): Promise<ExitStatus | null> => {
      expect(await waitGone(program, 20_000)).toBe(true);
      return readExitStatus(statusFile());
    };

    it('is told to have exited, whoever let go of it', async () => {
      const program = await start('read -r x; exit 7', { statusFile: statusFile() });
      program.release();
      expect(await ended(program)).toEqual({ code: 7, signal: null });
      // The file is not the program's: it has no descriptor of it.
      const spy = await start('ls /proc/self/fd | grep -x .', { statusFile: statusFile() });
      expect(await said(spy)).toEqual(['0', '1', '2', '3']);
    });

    it('is told to have been killed, also when the process that starts programs is gone', async () => {
      const program = await start('echo begun; sleep 60', { statusFile: statusFile() });
      program.release();
      // Of a program that was killed on its way in nothing is told.
      await waitFor('the program', async () => (await readFile(join(directory, 'log'), 'utf8')) === 'begun\n');
      killLauncher();
      const waiting = parentOf(program.process.pid);
      process.kill(program.process.pid, 'SIGKILL');
      expect(await ended(program)).toEqual({ code: null, signal: 'SIGKILL' });
      expect(await waitGone({ pid: waiting, startTime: processStartTime(waiting) ?? '' }, 5000)).toBe(true);
      // That it is gone is heard later than its signal: until then a start fails, as it is to.
      const starts = (): Promise<boolean> =>
        start('true').then(
          () => true,
          (error: unknown) => {
            expect(error).toBeInstanceOf(LauncherGone);
            return false;
          },
        );
      await waitFor('another launcher', starts);
    });

    it('is told nothing when who waited for it was killed, or was never there', async () => {
      const program = await start('echo begun; sleep 60', { statusFile: statusFile() });
      program.release();
      process.kill(parentOf(program.process.pid), 'SIGKILL');
      process.kill(program.process.pid, 'SIGKILL');
      expect(await ended(program)).toBeNull();
      expect(await readExitStatus(join(directory, 'no-file'))).toBeNull();
    });
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

  it('never begins when its starter is killed between the fork and its word, and leaves nothing', async () => {
    const starter = fork(join(__dirname, 'dying-holder.ts'), [directory, String(user)], {
      execArgv: ['-r', require.resolve('../../support/ts-register.js')],
    });
    try {
      const [held] = (await once(starter, 'message')) as [ProcessIdentity];
      expect(isRunning(held)).toBe(true);
      starter.kill('SIGKILL');
      expect(await waitGone(held, 20_000)).toBe(true);
      expect(await readFile(join(directory, 'log'), 'utf8')).toBe('');
    } finally {
      starter.kill('SIGKILL');
    }
  }, 60_000);

  it('leaves nothing, and no launcher, when its starter is killed while the chain hangs before it has forked', async () => {
    const stalled = new StalledChain(directory);
    const starter = fork(join(__dirname, 'dying-holder.ts'), [directory, String(user), 'nowhere'], {
      execArgv: ['-r', require.resolve('../../support/ts-register.js')],
      env: stalled.env,
    });
    try {
      const chain = await stalled.begun();
      const pid = parentOf(chain.pid);
      const launcher = { pid, startTime: processStartTime(pid) ?? '' };
      starter.kill('SIGKILL');
      expect(await waitGone(launcher, 20_000)).toBe(true);
      expect(await waitGone(chain, 20_000)).toBe(true);
    } finally {
      starter.kill('SIGKILL');
      stalled.end();
    }
  }, 60_000);

  it('never begins when the helper that waits for it is killed before its word, and leaves nothing', async () => {
    let held: ProcessIdentity | undefined;
    const before = async (of: ProcessIdentity): Promise<void> => {
      held = of;
      const helper = { pid: parentOf(of.pid), startTime: processStartTime(parentOf(of.pid)) ?? '' };
      process.kill(helper.pid, 'SIGKILL');
      await waitGone(helper, 20_000);
    };
    await expect(start('echo begun; sleep 60', { before })).rejects.toThrow('ended by SIGKILL');
    expect(held && isRunning(held)).toBe(false);
    expect(await readFile(join(directory, 'log'), 'utf8')).toBe('');
  }, 30_000);

  describe('whose launcher is killed', () => {
    it('leaves nothing of what was held back, and another launcher starts the next', async () => {
      let held: ProcessIdentity | undefined;
      const before = async (of: ProcessIdentity): Promise<void> => {
        held = of;
        killLauncher();
      };
      await expect(start('sleep 60', { before })).rejects.toThrow(LauncherGone);
      expect(held && isRunning(held)).toBe(false);
      expect(await said(await start('echo again', { before: () => Promise.resolve() }))).toEqual(['again']);
    });

    it('goes on when it had begun, and its end is still noticed', async () => {
      const program = await start('sleep 60', { before: () => Promise.resolve() });
      killLauncher();
      expect(isRunning(program.process)).toBe(true);
      process.kill(program.process.pid, 'SIGKILL');
      await program.ended;
      expect([program.hasEnded(), isRunning(program.process)]).toEqual([true, false]);
    });
  });
});
