import { createHash, type Hash } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { Service } from '../../../core/lifecycle/service';
import { Config } from '../../../core/config/config';
import { StatePaths } from '../../../core/config/state-paths';
import { formatRecord, parseRecord, type RecordForm } from '../../../core/host/records/record-form';
import { SparseWriter } from '../../../core/host/files/sparse-writer';
import { syncDirectory } from '../../../core/host/files/sync-directory';
import { ManagementClient } from '../../../core/m2m/management/node-route';
import { VerbFailure, type VerbContext } from '../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../core/telemetry/logging';
import type { ImageConfig } from '../contract/image.config';

export interface WantedImage {
  imageId: string;
  /** SHA-256 of the raw bytes, lower-case hex. */
  sha256: string;
  virtualBytes: number;
}

type Manifest = Pick<WantedImage, 'sha256' | 'virtualBytes'>;

const manifestForm: RecordForm<Manifest> = {
  name: 'record of a cached image',
  version: 1,
  schema: z.object({ sha256: z.string(), virtualBytes: z.number().int() }),
  upgrades: {},
};

const partSuffix = '.part';
const attempts = 5;
/** An image just fetched is about to be copied by the workflow that asked for it. */
const graceMs = 600_000;

const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(String((error as NodeJS.ErrnoException).code));

/**
 * The verified raw images of this host: `<id>.raw` beside `<id>.json`, which holds what was verified and, by its time,
 * the last use. A file stands under its name only once it is complete and on the disk, so it is not read again to be
 * trusted.
 */
@injectable()
export class ImageStore extends Service {
  private readonly log: Logger;
  private readonly directory: string;
  private readonly cacheBytes: number;
  private readonly fetching = new Map<string, { wanted: WantedImage; done: Promise<void> }>();
  private readonly pins = new Map<string, number>();

  constructor(
    private readonly client: ManagementClient,
    config: Config,
    paths: StatePaths,
    logging: Logging,
  ) {
    super();
    this.directory = paths.stateDir('images');
    this.cacheBytes = config.section<ImageConfig>('image').cacheBytes;
    this.log = logging.for('image-cache');
  }

  /** Removes what interrupted downloads left. */
  override async start(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o711 });
    for (const file of await readdir(this.directory)) {
      const orphan = file.endsWith('.json') && !(await this.exists(file.replace(/json$/, 'raw')));
      if (file.endsWith(partSuffix) || orphan) await rm(join(this.directory, file), { force: true });
    }
  }

  override async stop(): Promise<void> {
    await Promise.allSettled([...this.fetching.values()].map((f) => f.done));
  }

  /** Fetches the image unless it is here. Whoever asks meanwhile waits for the same download. Throws `VerbFailure`. */
  async ensure(wanted: WantedImage, ctx: Pick<VerbContext, 'signal' | 'progress'>): Promise<{ cached: boolean }> {
    const running = this.fetching.get(wanted.imageId);
    if (running) {
      await running.done;
      if (running.wanted.sha256 === wanted.sha256) return { cached: false };
    }
    // The entry is made before anything is awaited: two callers never start two downloads.
    let cached = false;
    const done = this.fetchUnlessThere(wanted, ctx).then((there) => {
      cached = there;
    });
    this.fetching.set(wanted.imageId, { wanted, done });
    try {
      await done;
    } finally {
      this.fetching.delete(wanted.imageId);
    }
    return { cached };
  }

  /** Absolute path of a cached image. Throws `VerbFailure` `image_not_cached`. */
  async path(imageId: string): Promise<string> {
    if ((await this.manifest(imageId)) === null)
      throw new VerbFailure('image_not_cached', `The image ${imageId} is not in this host's cache.`, false);
    await this.touch(imageId);
    return this.file(imageId);
  }

  /** The image is not evicted while `work` runs. */
  async use<T>(imageId: string, work: (path: string) => Promise<T>): Promise<T> {
    this.pins.set(imageId, (this.pins.get(imageId) ?? 0) + 1);
    try {
      return await work(await this.path(imageId));
    } finally {
      const left = (this.pins.get(imageId) ?? 1) - 1;
      if (left === 0) this.pins.delete(imageId);
      else this.pins.set(imageId, left);
    }
  }

  /** Drops the image. A copy that reads it goes on: the file lives until it is closed. */
  async remove(imageId: string): Promise<void> {
    await this.fetching.get(imageId)?.done.catch(() => undefined);
    await this.drop(imageId);
  }

  private async fetchUnlessThere(wanted: WantedImage, ctx: Pick<VerbContext, 'signal' | 'progress'>): Promise<boolean> {
    const manifest = await this.manifest(wanted.imageId);
    if (manifest && manifest.sha256 === wanted.sha256 && manifest.virtualBytes === wanted.virtualBytes) {
      await this.touch(wanted.imageId);
      return true;
    }
    await this.drop(wanted.imageId);
    await this.evict(wanted.virtualBytes);
    const part = this.file(wanted.imageId) + partSuffix;
    try {
      await this.download(wanted, part, ctx);
      await chmod(part, 0o444);
      await writeFileAtomic(
        this.manifestFile(wanted.imageId),
        formatRecord(manifestForm, { sha256: wanted.sha256, virtualBytes: wanted.virtualBytes }),
      );
      await rename(part, this.file(wanted.imageId));
      await syncDirectory(this.directory);
      return false;
    } catch (error) {
      await rm(part, { force: true });
      await this.drop(wanted.imageId);
      if (isFull(error))
        throw new VerbFailure('no_space', 'The disk of the image cache is full.', true, {}, { cause: error });
      throw error;
    }
  }

  /** A broken connection is taken up where it broke; the digest runs on. */
  private async download(
    wanted: WantedImage,
    part: string,
    ctx: Pick<VerbContext, 'signal' | 'progress'>,
  ): Promise<void> {
    const file = await open(part, 'w', 0o600);
    try {
      const writer = new SparseWriter(file);
      const hash = createHash('sha256');
      for (let attempt = 1; writer.bytes < wanted.virtualBytes; attempt++) {
        const before = writer.bytes;
        try {
          await this.receive(wanted, writer, hash, ctx);
          if (writer.bytes < wanted.virtualBytes)
            throw new Error(`the download ended after ${writer.bytes} of ${wanted.virtualBytes} bytes`);
        } catch (error) {
          if (error instanceof VerbFailure || isFull(error) || ctx.signal.aborted) throw error;
          if (writer.bytes > before) attempt = 1;
          if (attempt >= attempts)
            throw new VerbFailure(
              'download_failed',
              'The host could not fetch the image from management.',
              false,
              {},
              { cause: error, detail: (error as Error).message },
            );
          this.log.warn(
            { err: error, imageId: wanted.imageId, at: writer.bytes, attempt },
            'a download broke and is taken up again',
          );
          await sleep(200 * 2 ** attempt, undefined, { signal: ctx.signal });
        }
      }
      const sha256 = hash.digest('hex');
      if (sha256 !== wanted.sha256)
        throw new VerbFailure(
          'checksum_mismatch',
          `The image arrived with the SHA-256 ${sha256}, and should have ${wanted.sha256}.`,
          true,
        );
      await writer.finish(wanted.virtualBytes);
    } finally {
      await file.close();
    }
  }

  private async receive(
    wanted: WantedImage,
    writer: SparseWriter,
    hash: Hash,
    ctx: Pick<VerbContext, 'signal' | 'progress'>,
  ): Promise<void> {
    let stream: NodeJS.ReadableStream;
    try {
      stream = await this.client.download(`/images/${wanted.imageId}/content?from=${writer.bytes}`, ctx.signal);
    } catch (error) {
      const status = (error as { status?: unknown }).status;
      if (status === 404 || status === 409)
        throw new VerbFailure('image_gone', 'The image is no longer there to be fetched.', true, {}, { cause: error });
      throw error;
    }
    let percent = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (writer.bytes + chunk.length > wanted.virtualBytes)
        throw new VerbFailure(
          'size_mismatch',
          `The image is larger than the announced ${wanted.virtualBytes} bytes.`,
          true,
        );
      hash.update(chunk);
      await writer.write(chunk);
      const now = Math.floor((writer.bytes / wanted.virtualBytes) * 100);
      if (now > percent) ctx.progress((percent = now), 'fetching the image');
    }
  }

  /** Makes room for `incoming` bytes: the ones unused for longest go, but none that is in use or was just fetched. */
  private async evict(incoming: number): Promise<void> {
    const entries: { imageId: string; bytes: number; usedAt: number }[] = [];
    for (const name of await readdir(this.directory)) {
      if (!name.endsWith('.raw')) continue;
      const imageId = name.slice(0, -4);
      const [raw, used] = await Promise.all([
        stat(this.file(imageId)),
        stat(this.manifestFile(imageId)).catch(() => null),
      ]);
      entries.push({ imageId, bytes: raw.blocks * 512, usedAt: used?.mtimeMs ?? 0 });
    }
    let total = entries.reduce((sum, e) => sum + e.bytes, incoming);
    for (const entry of entries.sort((a, b) => a.usedAt - b.usedAt)) {
      if (total <= this.cacheBytes) return;
      if (this.pins.has(entry.imageId) || this.fetching.has(entry.imageId) || Date.now() - entry.usedAt < graceMs)
        continue;
      await this.drop(entry.imageId);
      total -= entry.bytes;
      this.log.info({ imageId: entry.imageId, bytes: entry.bytes }, 'evicted an image');
    }
  }

  /** Null when the image is not there, or not as its manifest says: then it is fetched anew. */
  private async manifest(imageId: string): Promise<Manifest | null> {
    try {
      const reading = parseRecord(manifestForm, await readFile(this.manifestFile(imageId), 'utf8'));
      if (reading.kind !== 'read') return null;
      return (await stat(this.file(imageId))).size === reading.value.virtualBytes ? reading.value : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  private async touch(imageId: string): Promise<void> {
    const now = new Date();
    await utimes(this.manifestFile(imageId), now, now).catch(() => undefined);
  }

  private async drop(imageId: string): Promise<void> {
    await rm(this.file(imageId), { force: true });
    await rm(this.manifestFile(imageId), { force: true });
  }

  private exists(file: string): Promise<boolean> {
    return stat(join(this.directory, file)).then(
      () => true,
      () => false,
    );
  }

  private file(imageId: string): string {
    return join(this.directory, `${imageId}.raw`);
  }

  private manifestFile(imageId: string): string {
    return join(this.directory, `${imageId}.json`);
  }
}
