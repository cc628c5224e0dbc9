import { join } from 'node:path';
import { spawnSandboxed } from '../../../src/core/host/sandbox/spawn-sandboxed';

/**
 * Holds a program back for ever, to be killed meanwhile. Tells the program's process. Its
 * arguments: a folder for the log, the user, and a network namespace where it is to be in one.
 */
const [folder = '', user = '', netns] = process.argv.slice(2);
void spawnSandboxed('/usr/bin/sh', ['-c', 'echo begun; sleep 60'], {
  netns: netns ?? null,
  logFile: join(folder, 'log'),
  sandbox: { user: Number(user) },
  before: (held) => {
    process.send?.(held);
    return new Promise(() => setInterval(() => undefined, 60_000));
  },
});
