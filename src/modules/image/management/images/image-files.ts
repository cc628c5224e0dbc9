import { createReadStream, type ReadStream } from 'node:fs';
import { chmod, chown, mkdir, open, readdir, rename, rm, stat, statfs, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { StatePaths } from '../../../../core/config/state-paths';
import { sandboxUsers } from '../../../../core/host/sandbox/sandbox-users';
import { syncDirectory } from '../../../../core/host/files/sync-directory';

const readBytes = 1024 * 1024;
/** Root gives files away and takes them back; anybody else's children are themselves. */
const ownsFiles = process.getuid?.() === 0;

/**
 * Management's image files: `<sha256>.raw`, complete and on the disk once the name stands, and
 * `incoming/<imageId>.<run>.<what>` while the bytes arrive. Several management processes share the folder when they
 * share the database.
 */
@injectable()
export class ImageFiles {
  private readonly directory: string;
  private readonly incoming: string;
  /** Of the children that read and write what is incoming. */
  private readonly user: number;

  constructor(paths: StatePaths, config: Config) {
    this.user = sandboxUsers(config.core.sandbox).imageTools;
    this.directory = paths.stateDir('images');
    this.incoming = join(this.directory, 'incoming');
  }

  async prepare(): Promise<void> {
    await mkdir(this.incoming, { recursive: true, mode: 0o700 });
  }

  /** Names for the files of one run of work on an image. `run`: what no other work on it is called. */
  temporary(imageId: string, name: string = randomUUID()): { source: string; raw: string } {
    const run = join(this.incoming, `${imageId}.${name}`);
    return { source: `${run}.source`, raw: `${run}.raw` };
  }

  /**
   * A new file that children without rights may open, by the descriptor that they inherit: they cannot reach the
   * folder.
   */
  async openForChild(path: string): Promise<FileHandle> {
    const file = await open(path, 'wx+', 0o600);
    if (ownsFiles) await file.chown(this.user, this.user);
    return file;
  }

  async discard(paths: readonly string[]): Promise<void> {
    for (const path of paths) await rm(path, { force: true });
  }

  /** The bytes are on the disk, and under this name after a loss of power too. */
  async sync(path: string): Promise<void> {
    const file = await open(path, 'r');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await syncDirectory(this.incoming);
  }

  /** Bytes of a file of unfinished work; null when there is none. */
  async incomingSize(path: string): Promise<number | null> {
    return stat(path).then(
      (s) => s.size,
      () => null,
    );
  }

  /** Where a file of unfinished work lies, by its name without a folder. */
  incomingPath(name: string): string {
    return join(this.incoming, basename(name));
  }

  /** Removes the files of unfinished work on an image, but for those named. */
  async discardOf(imageId: string, except: readonly string[] = []): Promise<void> {
    const left = (await this.leftovers()).filter((file) => file.imageId === imageId && !except.includes(file.path));
    await this.discard(left.map((file) => file.path));
  }

  async freeBytes(): Promise<number> {
    const fs = await statfs(this.incoming);
    return fs.bavail * fs.bsize;
  }

  /**
   * Puts a synced raw file under its digest's name, which outlives a loss of power from here on. Under the digest's
   * lock.
   */
  async publish(raw: string, sha256: string): Promise<void> {
    if (ownsFiles) await chown(raw, 0, 0);
    await chmod(raw, 0o444);
    await rename(raw, this.path(sha256));
    await syncDirectory(this.directory);
  }

  /** Under the digest's lock. */
  async remove(sha256: string): Promise<void> {
    await rm(this.path(sha256), { force: true });
  }

  async size(sha256: string): Promise<number | null> {
    return stat(this.path(sha256)).then(
      (s) => s.size,
      () => null,
    );
  }

  read(sha256: string, from: number): ReadStream {
    return createReadStream(this.path(sha256), { start: from, highWaterMark: readBytes });
  }

  /** Bytes that the file takes on the disk, its holes not counted; 0 when there is none. */
  async allocatedBytes(path: string): Promise<number> {
    return stat(path).then(
      (s) => s.blocks * 512,
      () => 0,
    );
  }

  /** Digests of all stored files. */
  async stored(): Promise<string[]> {
    return (await readdir(this.directory)).filter((f) => /^[0-9a-f]{64}\.raw$/.test(f)).map((f) => f.slice(0, 64));
  }

  /** Files of unfinished work. */
  async leftovers(): Promise<{ path: string; imageId: string }[]> {
    return (await readdir(this.incoming)).map((f) => ({ path: join(this.incoming, f), imageId: f.slice(0, 36) }));
  }

  private path(sha256: string): string {
    return join(this.directory, `${sha256}.raw`);
  }
}
