import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';

/** Kernel locks on the file that conflict, held by real programs. `OFDLCK ADVISORY WRITE -1 fe:00:1234 0 EOF` */
const kernelLocked = (path: string, write: boolean): boolean => {
  const { dev, ino } = statSync(path, { bigint: true });
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  const hex = (n: bigint): string => n.toString(16).padStart(2, '0');
  const place = ` ${hex(major)}:${hex(minor)}:${ino} `;
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .some(
      (line) =>
        line.includes(place) && !line.includes('->') && !line.includes('FLOCK') && (write || line.includes(' WRITE ')),
    );
};

/**
 * Advisory locks on disk images: one writer or many readers, whatever process namespace they are in. Node has no file
 * locks: flock(1) takes one on a descriptor of ours, and it lasts as long as that is open.
 */
export class DiskLock {
  private constructor(private readonly fd: number) {}

  /** Null when another holds a lock that conflicts. */
  static take(path: string, mode: 'Read' | 'Write'): DiskLock | null {
    const fd = openSync(path, 'r');
    const { status } = spawnSync('flock', ['--nonblock', mode === 'Write' ? '--exclusive' : '--shared', '3'], {
      stdio: ['ignore', 'ignore', 'ignore', fd],
    });
    if (status === 0 && !kernelLocked(path, mode === 'Write')) return new DiskLock(fd);
    closeSync(fd);
    return null;
  }

  release(): void {
    closeSync(this.fd);
  }
}
