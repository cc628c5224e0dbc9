import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const busyLoop = 'for (;;);';

/** Writes and syncs one file again and again, 64 MiB at most. */
const diskLoop = `
  const fs = require('node:fs');
  const file = fs.openSync(process.argv[1], 'w');
  const block = Buffer.alloc(1024 * 1024, 1);
  for (let i = 0; ; i = (i + 1) % 64) {
    fs.writeSync(file, block, 0, block.length, i * block.length);
    fs.fdatasyncSync(file);
  }`;

/**
 * Keeps every core and the disk busy, as a compiler beside us would: late timers and slow syncs bring up orders of
 * events that a quiet machine never has. Ends with the function that it returns; what a killed run leaves, the guard of
 * `directory` ends.
 */
export const keepBusy = (directory: string): (() => void) => {
  const file = join(directory, 'load');
  const children = [...Array.from({ length: availableParallelism() }, () => busyLoop), diskLoop].map((script) =>
    spawn(process.execPath, ['-e', script, file], { stdio: 'ignore' }),
  );
  return () => {
    for (const child of children) child.kill('SIGKILL');
  };
};
