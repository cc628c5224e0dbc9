import type { FileHandle } from 'node:fs/promises';

/** Granularity of holes, in bytes: the block size of common file systems. */
const block = 4096;
const zeros = Buffer.alloc(block);

/**
 * Writes a byte stream into a new file and leaves blocks of zeros unwritten, so that they take no space.
 * The file system's holes read as zeros, so the content is the same.
 */
export class SparseWriter {
  private position: number;

  /** @param start offset of the first byte in the file */
  constructor(
    private readonly file: FileHandle,
    start = 0,
  ) {
    this.position = start;
  }

  /** Bytes of the stream so far, holes included. */
  get bytes(): number {
    return this.position;
  }

  /** Throws `ENOSPC` and the like as they come. */
  async write(chunk: Buffer): Promise<void> {
    let at = 0;
    let runStart = 0;
    const flush = async (end: number): Promise<void> => {
      let from = runStart;
      while (from < end) from += (await this.file.write(chunk, from, end - from, this.position + from)).bytesWritten;
    };
    while (at < chunk.length) {
      const end = Math.min(chunk.length, at + block - ((this.position + at) % block));
      if (chunk.compare(zeros, 0, end - at, at, end) === 0) {
        await flush(at);
        runStart = end;
      }
      at = end;
    }
    await flush(chunk.length);
    this.position += chunk.length;
  }

  /** Gives the file its full length (a hole at the end is otherwise missing) and brings it to the disk. */
  async finish(length = this.position): Promise<void> {
    await this.file.truncate(length);
    await this.file.sync();
  }
}
