import { fstat, read } from 'node:fs';
import { promisify } from 'node:util';
import type { ImageReader } from './image-reader';

const readAt = promisify(read);
const statOf = promisify(fstat);

/** Reads a file by a descriptor that this process inherited. */
export class OpenFile implements ImageReader {
  private constructor(
    private readonly fd: number,
    readonly bytes: number,
  ) {}

  static async of(fd: number): Promise<OpenFile> {
    return new OpenFile(fd, (await statOf(fd)).size);
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, await this.into(buffer, offset, length));
  }

  /** How many bytes there were. */
  async into(buffer: Buffer, offset: number, length: number): Promise<number> {
    let got = 0;
    while (got < length) {
      const { bytesRead } = await readAt(this.fd, buffer, got, length - got, offset + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return got;
  }
}
