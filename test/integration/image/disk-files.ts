import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Disk images of a test, made by qemu-img in a directory of their own. */
export class DiskFiles {
  readonly directory = mkdtempSync(join(tmpdir(), 'vc-image-work-'));

  qemuImg(...args: string[]): void {
    execFileSync('qemu-img', args, { stdio: 'pipe' });
  }

  /** A qcow2 file of a disk with some bytes in it, and these bytes as raw. */
  makeQcow2(options: string[] = [], fill = 0): { qcow2: Buffer; raw: Buffer } {
    const raw = Buffer.alloc(4 * 1024 * 1024, fill);
    for (let i = 0; i < 40; i++) raw.write(`block ${i}`, i * 65_536 + 17);
    writeFileSync(join(this.directory, 'in.raw'), raw);
    rmSync(join(this.directory, 'out.qcow2'), { force: true });
    this.qemuImg(
      'convert',
      '-f',
      'raw',
      '-O',
      'qcow2',
      ...options,
      join(this.directory, 'in.raw'),
      join(this.directory, 'out.qcow2'),
    );
    return { qcow2: readFileSync(join(this.directory, 'out.qcow2')), raw };
  }

  /** What the command makes; path and size are added to it. DATA in it is a path beside. */
  file(command: string, size = '1M'): Buffer {
    const path = join(this.directory, 'made.img');
    rmSync(path, { force: true });
    const [program = '', ...args] = command.replace('DATA', join(this.directory, 'made.data')).split(' ');
    execFileSync(program, [...args, path, size], { stdio: 'pipe' });
    return readFileSync(path);
  }

  /** A qcow2 file with a change in it. */
  patched(change: (bytes: Buffer) => void): Buffer {
    const { qcow2 } = this.makeQcow2();
    change(qcow2);
    return qcow2;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
