import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where simulated VMMs tell each other what they hold. Not in a network namespace, unlike abstract sockets. */
const directory = join(tmpdir(), 'simulated-vmm-locks');

const startOf = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
};

/** Kernel locks on the file that conflict, held by real programs. `OFDLCK ADVISORY WRITE -1 fe:00:1234 0 EOF` */
const kernelLocked = (device: bigint, inode: bigint, write: boolean): boolean => {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  const hex = (n: bigint): string => n.toString(16).padStart(2, '0');
  const place = ` ${hex(major)}:${hex(minor)}:${inode} `;
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .some((line) => line.includes(place) && !line.includes('->') && (write || line.includes(' WRITE ')));
};

let counter = 0;

/** Advisory locks on disk images: one writer or many readers. Node has no file locks, so a file per holder says who; it counts only while its process lives. */
export class DiskLock {
  private constructor(private readonly file: string) {}

  /** Null when another holds a lock that conflicts. */
  static take(path: string, mode: 'Read' | 'Write'): DiskLock | null {
    const { dev, ino } = statSync(path, { bigint: true });
    const prefix = `${dev}-${ino}.`;
    mkdirSync(directory, { recursive: true });
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(prefix)) continue;
      const [kind, pid, start] = name.slice(prefix.length).split('-');
      if (startOf(Number(pid)) !== start) rmSync(join(directory, name), { force: true });
      else if (mode === 'Write' || kind === 'Write') return null;
    }
    if (kernelLocked(dev, ino, mode === 'Write')) return null;
    const file = join(directory, `${prefix}${mode}-${process.pid}-${startOf(process.pid) ?? ''}-${++counter}`);
    writeFileSync(file, '', { flag: 'wx' });
    return new DiskLock(file);
  }

  release(): void {
    rmSync(this.file, { force: true });
  }
}
