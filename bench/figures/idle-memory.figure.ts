import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { TestCloud } from '../../test/support/cloud';
import type { Figure } from '../harness/figure';
import type { Lab } from '../harness/lab';

const idleMs = 20_000;
const mebibyte = 1024 * 1024;

/** Resident memory of a process. Bytes. */
const residentBytes = (pid: number): number => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error(`process ${pid} tells no resident size`);
  return Number(kilobytes) * 1024;
};

const emptyNode = async (): Promise<number> => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  try {
    await delay(2_000);
    return residentBytes(child.pid ?? 0);
  } finally {
    child.kill('SIGKILL');
  }
};

/**
 * A management process and the agent of a real host, each in its own process, after a while without work. PostgreSQL is
 * a process of its own.
 */
export const idleMemory: Figure = {
  name: 'idle memory',
  limitMinutes: 4,
  async run(lab: Lab) {
    const cloud = await TestCloud.start('bmem', { hosts: ['h1'] });
    lab.defer(() => cloud.close());
    lab.say(`waiting ${idleMs / 1000} s`);
    await delay(idleMs);
    const reference = (await emptyNode()) / mebibyte;
    const note = (aim: number): string =>
      `aim: at most ${aim} MB; resident after ${idleMs / 1000} s without work; reference: a Node process without code`;
    return [
      {
        figure: 'idle memory, management',
        ours: residentBytes(cloud.management.pid) / mebibyte,
        reference,
        unit: 'MB',
        note: note(220),
      },
      {
        figure: 'idle memory, compute',
        ours: residentBytes(cloud.host('h1').pid) / mebibyte,
        reference,
        unit: 'MB',
        note: note(120),
      },
    ];
  },
};
