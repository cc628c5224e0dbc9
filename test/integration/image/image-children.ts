import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Processes that run the script of that name for this one: each is beneath those that shut it in. */
export const children = (script: string): number[] => {
  const found = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return [{ pid, parent, program: command.split('\0')[0], command }];
      } catch {
        return [];
      }
    });
  const isOurs = (pid: string | undefined): boolean =>
    pid === String(process.pid) || found.some((one) => one.pid === pid && one.pid !== one.parent && isOurs(one.parent));
  return found
    .filter(
      ({ program, command, parent }) => program === process.execPath && command.includes(script) && isOurs(parent),
    )
    .map(({ pid }) => Number(pid));
};

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
