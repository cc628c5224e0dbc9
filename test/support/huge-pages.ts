import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';

const kept = '/proc/sys/vm/nr_hugepages';
const pool = '/sys/kernel/mm/hugepages/hugepages-2048kB';
const number = (path: string): number => Number(readFileSync(path, 'utf8'));

/** Pages of 2 MiB that nobody has. */
export const freeHugePages = (): number => number(`${pool}/free_hugepages`);

/** Why this machine keeps none for a test; null when it does. */
export const noHugePagesHere = ((): string | null => {
  try {
    const before = number(kept);
    writeFileSync(kept, String(before + 1));
    const got = number(kept);
    writeFileSync(kept, String(before));
    return got > before ? null : 'its memory is in too many pieces';
  } catch (error) {
    return (error as Error).message;
  }
})();

/**
 * The machine keeps so many pages of 2 MiB more, for the caller alone: others that ask wait. Rejects where it cannot.
 * Returns how they are given back.
 */
export const keepHugePages = async (count: number): Promise<() => Promise<void>> => {
  const lock = spawn('flock', ['/tmp/vc-stack-test-huge-pages', 'sh', '-c', 'echo locked; cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(lock, 'exit');
  const unlock = async (): Promise<void> => {
    lock.stdin.end();
    await gone;
  };
  await once(lock.stdout, 'data');
  const before = number(kept);
  const giveBack = async (): Promise<void> => {
    writeFileSync(kept, String(before));
    await unlock();
  };
  writeFileSync(kept, String(before + count));
  if (number(kept) === before + count) return giveBack;
  await giveBack();
  throw new Error(`the machine cannot keep ${count} huge pages more`);
};
