import { closeSync, fstatSync, openSync, readSync, renameSync, writeSync } from 'node:fs';

/** Size at which the log is rotated; one older file is kept. Bytes. */
const rotateAt = 1024 * 1024;

/** A guest's console output on disk, in at most two files. A guest that prints for ever cannot fill the disk. */
export class SerialLog {
  private fd: number | null = null;
  private size = 0;

  constructor(private readonly path: string) {}

  /**
   * Synchronous and small: console output comes in pieces of a few bytes, and their order matters. Output is dropped
   * when the folder is gone.
   */
  append(chunk: Buffer): void {
    try {
      if (this.fd === null) {
        this.fd = openSync(this.path, 'a', 0o600);
        this.size = fstatSync(this.fd).size;
      }
      if (this.size + chunk.length > rotateAt) {
        closeSync(this.fd);
        this.fd = null;
        renameSync(this.path, `${this.path}.1`);
        this.fd = openSync(this.path, 'a', 0o600);
        this.size = 0;
      }
      this.size += writeSync(this.fd, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && (error as NodeJS.ErrnoException).code !== 'ENOSPC')
        throw error;
    }
  }

  /** The last bytes on record, at most `bytes`. */
  tail(bytes: number): Buffer {
    let fd: number;
    try {
      fd = openSync(this.path, 'r');
    } catch {
      return Buffer.alloc(0);
    }
    try {
      const size = fstatSync(fd).size;
      const buffer = Buffer.alloc(Math.min(bytes, size));
      readSync(fd, buffer, 0, buffer.length, size - buffer.length);
      return buffer;
    } finally {
      closeSync(fd);
    }
  }

  close(): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
  }
}
