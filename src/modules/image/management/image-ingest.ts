import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { injectable } from 'inversify';
import { Config } from '../../../core/config/config';
import { SparseWriter } from '../../../core/host/sparse-writer';
import type { ImageConfig } from '../contract/image.config';
import { ImageFetcher } from './fetch/image-fetcher';
import { ImageFiles } from './image-files';
import { inspectImage, type ImageFacts } from './image-header';
import { ImageRefused } from './image-refused';
import { QemuImg } from './qemu-img';

/** Disks work in blocks of 4 KiB at most: a size that is no multiple would lose its last sectors on such a disk. */
const blockBytes = 4096;
const readBytes = 1024 * 1024;

export interface ReceivedSource {
  path: string;
  bytes: number;
  sha256: string;
}

export interface StoredFacts {
  raw: string;
  sha256: string;
  sourceFormat: ImageFacts['format'];
  sourceBytes: number;
  virtualBytes: number;
}

/** From bytes of a stranger to a raw image: receive, verify, inspect, convert, sync. Files are the caller's to discard. */
@injectable()
export class ImageIngest {
  private readonly config: ImageConfig;

  constructor(
    private readonly files: ImageFiles,
    private readonly fetcher: ImageFetcher,
    private readonly qemuImg: QemuImg,
    config: Config,
  ) {
    this.config = config.section<ImageConfig>('image');
  }

  /**
   * Writes a stream to `path` and checks the promised digest. Throws `ImageRefused`, `ENOSPC`, and what the stream throws.
   * @param announced bytes that should arrive (Content-Length); null when nobody said
   * @param checksum `sha256:<hex>` or `sha512:<hex>` in lower case
   */
  async receive(stream: AsyncIterable<Buffer>, path: string, announced: number | null, checksum: string | null, signal: AbortSignal): Promise<ReceivedSource> {
    if (announced !== null) await this.checkAnnounced(announced);
    const sha256 = createHash('sha256');
    const other = checksum?.startsWith('sha512:') ? createHash('sha512') : null;
    const file = await open(path, 'w', 0o600);
    let bytes: number;
    try {
      const writer = new SparseWriter(file);
      for await (const chunk of stream) {
        signal.throwIfAborted();
        if (writer.bytes + chunk.length > this.config.maxBytes) throw this.tooLarge();
        sha256.update(chunk);
        other?.update(chunk);
        await writer.write(chunk);
      }
      bytes = writer.bytes;
      await writer.finish();
    } finally {
      await file.close();
    }
    if (announced !== null && bytes < announced) throw new ImageRefused('image_truncated', `Only ${bytes} of ${announced} bytes arrived.`);
    const received = { path, bytes, sha256: sha256.digest('hex') };
    this.check(received, other?.digest('hex') ?? '', checksum);
    return received;
  }

  /** Fetches a URL to `path` and checks the promised digest. Throws as the fetcher does, and `ImageRefused`. */
  async fetch(url: string, path: string, checksum: string | null, signal: AbortSignal): Promise<ReceivedSource> {
    const { bytes, sha256, sha512 } = await this.fetcher.fetch(url, path, checksum?.startsWith('sha512:') ?? false, signal);
    const received = { path, bytes, sha256 };
    this.check(received, sha512 ?? '', checksum);
    return received;
  }

  private check({ bytes, sha256 }: ReceivedSource, sha512: string, checksum: string | null): void {
    if (bytes === 0) throw new ImageRefused('image_empty', 'The image has no bytes.');
    if (checksum === null) return;
    const [algorithm = '', promised = ''] = checksum.split(':');
    const actual = algorithm === 'sha512' ? sha512 : sha256;
    if (actual !== promised) throw new ImageRefused('checksum_mismatch', `The bytes have the ${algorithm === 'sha512' ? 'SHA-512' : 'SHA-256'} ${actual}, and should have ${promised}.`);
  }

  /** Inspects the source and makes the raw file of it at `raw`, whole, sparse, a multiple of 4096 bytes long, and on the disk. */
  async convert(source: ReceivedSource, raw: string, claimed: ImageFacts['format'] | null, signal: AbortSignal): Promise<StoredFacts> {
    const facts = await this.inspect(source.path, claimed);
    const virtualBytes = Math.ceil(facts.virtualBytes / blockBytes) * blockBytes;
    if (facts.format === 'raw') {
      await rename(source.path, raw);
    } else {
      await this.qemuImg.confirm(source.path, facts);
      await this.qemuImg.convert(source.path, raw, facts, signal);
    }
    const file = await open(raw, 'r+');
    try {
      const { size } = await file.stat();
      if (size < facts.virtualBytes) throw new ImageRefused('conversion_failed', `The conversion gave ${size} of ${facts.virtualBytes} bytes.`);
      await file.truncate(virtualBytes);
      await file.sync();
    } finally {
      await file.close();
    }
    const same = facts.format === 'raw' && virtualBytes === source.bytes;
    return { raw, sha256: same ? source.sha256 : await this.digest(raw, signal), sourceFormat: facts.format, sourceBytes: source.bytes, virtualBytes };
  }

  private async inspect(path: string, claimed: ImageFacts['format'] | null): Promise<ImageFacts> {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const read = async (offset: number, length: number): Promise<Buffer> => {
        const buffer = Buffer.alloc(length);
        const { bytesRead } = await file.read(buffer, 0, length, offset);
        return buffer.subarray(0, bytesRead);
      };
      return await inspectImage({ bytes: size, read }, claimed, this.config.maxVirtualBytes);
    } finally {
      await file.close();
    }
  }

  private async digest(path: string, signal: AbortSignal): Promise<string> {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path, { highWaterMark: readBytes, signal }) as AsyncIterable<Buffer>) hash.update(chunk);
    return hash.digest('hex');
  }

  private async checkAnnounced(bytes: number): Promise<void> {
    if (bytes > this.config.maxBytes) throw this.tooLarge();
    if (bytes > (await this.files.freeBytes())) throw Object.assign(new Error('the disk has no room for the announced bytes'), { code: 'ENOSPC' });
  }

  private tooLarge(): ImageRefused {
    return new ImageRefused('image_too_large', `The image is larger than the ${this.config.maxBytes} bytes that are allowed.`);
  }
}
