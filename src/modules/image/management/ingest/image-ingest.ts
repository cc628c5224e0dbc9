import { open, rename } from 'node:fs/promises';
import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { SparseWriter } from '../../../../core/host/files/sparse-writer';
import type { ImageConfig } from '../../contract/image.config';
import { ImageFetcher, type HeardBytes } from '../fetch/image-fetcher';
import { ImageFiles } from '../images/image-files';
import { ImageRefused } from '../import/image-refused';
import type { BootsBy } from './boot-evidence';
import type { BootPart } from './boot-parts';
import type { DigestName } from './bytes-messages';
import { FairSemaphore } from './fair-semaphore';
import { ImageBytes } from './image-bytes';
import type { ImageFacts } from './image-header';
import { ImageSpace } from './image-space';
import { QemuImg } from './qemu-img';

/** Disks work in blocks of 4 KiB at most: a size that is no multiple would lose its last sectors on such a disk. */
const blockBytes = 4096;
const lookMs = 500;

export interface ReceivedSource {
  path: string;
  bytes: number;
  /** Null: not known yet. */
  sha256: string | null;
  sha512: string | null;
  /** As the server of an import named it; it decides nothing. */
  contentType: string | null;
}

/** What is to become of a source. */
export interface Wanted {
  projectId: string;
  /** Format that the user named. */
  claimed: ImageFacts['format'] | null;
  /** `sha256:<hex>` or `sha512:<hex>` in lower case. */
  checksum: string | null;
  /** Throws when so many bytes more are not to be stored. */
  admit: (bytes: number) => Promise<void>;
}

export interface StoredFacts {
  raw: string;
  sha256: string;
  sourceFormat: ImageFacts['format'];
  sourceBytes: number;
  virtualBytes: number;
  /** Absent in what a task of an earlier release has found. */
  boots?: BootsBy;
}

/**
 * From bytes of a stranger to a raw image: receive, verify, inspect, convert, sync. Whatever reads the bytes is a child
 * without rights, at low priority; only a few are at it at once, each project in its turn. Files are the caller's to
 * discard.
 */
@injectable()
export class ImageIngest {
  private readonly config: ImageConfig;
  private readonly semaphore: FairSemaphore;

  constructor(
    private readonly files: ImageFiles,
    private readonly fetcher: ImageFetcher,
    private readonly bytes: ImageBytes,
    private readonly qemuImg: QemuImg,
    private readonly space: ImageSpace,
    config: Config,
  ) {
    this.config = config.section<ImageConfig>('image');
    this.semaphore = new FairSemaphore(this.config.workers, this.config.workersPerProject);
  }

  /**
   * Writes a stream to a new file at `path`. Throws `ImageRefused`, `ENOSPC`, the signal's reason, and what the stream
   * throws.
   * @param announced bytes that should arrive (Content-Length); null when nobody said
   */
  async receive(
    chunks: (signal: AbortSignal) => AsyncIterable<Buffer>,
    path: string,
    announced: number | null,
    outer: AbortSignal,
    part: BootPart | 'content' = 'content',
  ): Promise<ReceivedSource> {
    const limit = this.limitOf(part);
    if (announced !== null && announced > limit) throw tooLarge(part, limit);
    const hold = this.space.open();
    try {
      await hold.expect(announced ?? 0);
      const file = await this.files.openForChild(path);
      try {
        const writer = new SparseWriter(file);
        for await (const chunk of chunks(AbortSignal.any([outer, hold.signal]))) {
          if (writer.bytes + chunk.length > limit) throw tooLarge(part, limit);
          await writer.write(chunk);
          hold.wrote(writer.bytes);
        }
        if (announced !== null && writer.bytes < announced)
          throw new ImageRefused('image_truncated', `Only ${writer.bytes} of ${announced} bytes arrived.`);
        await writer.finish();
        return { path, bytes: writer.bytes, sha256: null, sha512: null, contentType: null };
      } finally {
        await file.close();
      }
    } finally {
      hold.close();
    }
  }

  /** Fetches a URL to a new file at `path`. Throws as the fetcher does. */
  async fetch(
    url: string,
    path: string,
    checksum: string | null,
    signal: AbortSignal,
    heard: HeardBytes,
  ): Promise<ReceivedSource> {
    return { path, ...(await this.fetcher.fetch(url, path, checksum?.startsWith('sha512:') ?? false, signal, heard)) };
  }

  /**
   * Checks the source against what was promised, and makes the raw file of it at `raw`: whole, sparse, a multiple of
   * 4096 bytes long, and on the disk.
   */
  async convert(source: ReceivedSource, raw: string, wanted: Wanted, signal: AbortSignal): Promise<StoredFacts> {
    if (source.bytes === 0) throw new ImageRefused('image_empty', 'The image has no bytes.');
    try {
      return await this.semaphore.run(wanted.projectId, signal, () => this.unfold(source, raw, wanted, signal));
    } catch (error) {
      const { contentType } = source;
      if (!(error instanceof ImageRefused) || contentType === null || !saidOf.has(error.code)) throw error;
      throw new ImageRefused(error.code, `${error.message} Its server calls it ${contentType}.`, { cause: error });
    }
  }

  /**
   * Checks a source that a kernel's loader gets as it is: the same path holds it then, on the disk. Throws
   * `ImageRefused`.
   */
  async accept(
    source: ReceivedSource,
    part: BootPart,
    projectId: string,
    signal: AbortSignal,
  ): Promise<{ sha256: string; bytes: number }> {
    const job = { inspect: null, boot: part, digests: ['sha256' as const], extents: null };
    const { sha256 } = await this.semaphore.run(projectId, signal, () => this.bytes.read(source.path, job, signal));
    if (sha256 === null) throw new Error('the child hashed nothing');
    await this.files.sync(source.path);
    return { sha256, bytes: source.bytes };
  }

  private limitOf(part: BootPart | 'content'): number {
    const { maxBytes, maxKernelBytes, maxInitramfsBytes } = this.config;
    return { content: maxBytes, kernel: maxKernelBytes, initramfs: maxInitramfsBytes }[part];
  }

  private async unfold(source: ReceivedSource, raw: string, wanted: Wanted, signal: AbortSignal): Promise<StoredFacts> {
    const { facts, sha256 } = await this.inspect(source, wanted, signal);
    const virtualBytes = Math.ceil(facts.virtualBytes / blockBytes) * blockBytes;
    if (facts.format === 'raw') {
      await rename(source.path, raw);
    } else {
      await wanted.admit(facts.dataBytes);
      await this.qemuImg.confirm(source.path, facts);
      await this.write(source.path, raw, facts, signal);
    }
    const file = await open(raw, 'r+');
    try {
      const { size } = await file.stat();
      if (size < facts.virtualBytes)
        throw new ImageRefused('conversion_failed', `The conversion gave ${size} of ${facts.virtualBytes} bytes.`);
      await file.truncate(virtualBytes);
      await file.sync();
    } finally {
      await file.close();
    }
    const known = facts.format === 'raw' && virtualBytes === source.bytes ? sha256 : null;
    const found = await this.look(raw, known === null, signal);
    return {
      raw,
      sha256: known ?? found.sha256,
      boots: found.boots,
      sourceFormat: facts.format,
      sourceBytes: source.bytes,
      virtualBytes,
    };
  }

  /** What the source is, once it is what was promised. Its digests are taken only where somebody needs them. */
  private async inspect(
    source: ReceivedSource,
    { claimed, checksum }: Wanted,
    signal: AbortSignal,
  ): Promise<{ facts: ImageFacts; sha256: string | null }> {
    const { maxVirtualBytes } = this.config;
    const [algorithm, promised] = checksum === null ? [null, null] : (checksum.split(':') as [DigestName, string]);
    const missing = algorithm !== null && source[algorithm] === null ? [algorithm] : [];
    const extents = missing.length > 0 ? await this.qemuImg.map(source.path, signal) : null;
    const done = await this.bytes.read(
      source.path,
      { digests: missing, extents, inspect: { claimed, maxVirtualBytes } },
      signal,
    );
    const got = { sha256: done.sha256 ?? source.sha256, sha512: done.sha512 ?? source.sha512 };
    if (algorithm !== null && got[algorithm] !== promised) {
      throw new ImageRefused(
        'checksum_mismatch',
        `The bytes have the ${algorithm === 'sha512' ? 'SHA-512' : 'SHA-256'} ${got[algorithm]}, and should have ${promised}.`,
      );
    }
    if (!done.facts) throw new Error('the child inspected nothing');
    return { facts: done.facts, sha256: got.sha256 };
  }

  /** Unfolds an image. What it may write is bounded by its own tables, and by the room that there is. */
  private async write(from: string, raw: string, facts: ImageFacts, signal: AbortSignal): Promise<void> {
    const hold = this.space.open();
    // eslint-disable-next-line no-restricted-globals -- ends with one conversion
    const timer = setInterval(() => void this.files.allocatedBytes(raw).then((bytes) => hold.wrote(bytes)), lookMs);
    try {
      await hold.expect(Math.min(facts.dataBytes, facts.virtualBytes));
      await this.qemuImg.convert(from, raw, facts, AbortSignal.any([signal, hold.signal]));
    } finally {
      clearInterval(timer);
      hold.close();
    }
  }

  /** What a raw disk is. Its digest is empty where nobody needs it. */
  private async look(path: string, hash: boolean, signal: AbortSignal): Promise<{ sha256: string; boots: BootsBy }> {
    const extents = hash ? await this.qemuImg.map(path, signal) : null;
    const digests: DigestName[] = hash ? ['sha256'] : [];
    const { sha256, boots } = await this.bytes.read(path, { inspect: null, boots: true, digests, extents }, signal);
    if ((hash && sha256 === null) || boots === null) throw new Error('the child did not do what it was to');
    return { sha256: sha256 ?? '', boots };
  }
}

const tooLarge = (part: BootPart | 'content', limit: number): ImageRefused =>
  new ImageRefused(
    'image_too_large',
    `The ${part === 'content' ? 'image' : part} is larger than the ${limit} bytes that are allowed.`,
  );

/** Refusals that the name which a server gives to its bytes explains. */
const saidOf = new Set<ImageRefused['code']>([
  'not_a_disk',
  'unsupported_format',
  'format_mismatch',
  'image_truncated',
]);
