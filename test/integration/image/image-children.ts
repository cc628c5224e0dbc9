import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Processes of this one that run the script of that name. */
export const children = (script: string): number[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1];
        return parent === String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(script);
      } catch {
        return false;
      }
    })
    .map(Number);

/** A qcow2 image of so many GiB with nothing in it: a few hundred KiB. */
export const hollow = (gib: number): Buffer => {
  const dir = mkdtempSync(join(tmpdir(), 'vc-hollow-'));
  try {
    execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', join(dir, 'image'), `${gib}G`]);
    return readFileSync(join(dir, 'image'));
  } finally {
    rmSync(dir, { recursive: true });
  }
};
