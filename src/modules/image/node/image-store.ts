import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { Service } from '../../../core/lifecycle/service';
import { Config } from '../../../core/config/config';
import { StatePaths } from '../../../core/config/state-paths';
import { formatRecord, parseRecord, type RecordForm } from '../../../core/host/records/record-form';
import { syncDirectory } from '../../../core/host/files/sync-directory';
import { ManagementClient } from '../../../core/m2m/management/node-route';
import { VerbFailure, type VerbContext } from '../../../core/m2m/verbs/verb-handler';
import { Logging } from '../../../core/telemetry/logging';
import type { ImageConfig } from '../contract/image.config';
import type { CachedKernel } from '../contract/image.ports';
import { filesOf, suffixes, type WantedImage } from './cached-files';
import { ImageDownload, isFull } from './image-download';

type Manifest = Omit<WantedImage, 'imageId'>;

const verified = z.object({ sha256: z.string(), bytes: z.number().int() });

const manifestForm: RecordForm<Manifest> = {
  name: 'record of a cached image',
  version: 1,
  schema: z.object({
    sha256: z.string(),
    virtualBytes: z.number().int(),
    /** Absent: it brings none. */
    kernel: verified.extend({ initramfs: verified.nullable() }).optional(),
  }),
  upgrades: {},
};

const partSuffix = '.part';
/** An image just fetched is about to be copied by the workflow that asked for it. */
const graceMs = 600_000;

/**
 * The verified raw images of this host: `<id>.raw`, with `<id>.kernel` and `<id>.initramfs` where it brings them, beside
 * `<id>.json`, which holds what was verified and, by its time, the last use. A file stands under its name only once it is complete and on the disk, so it is not read again to be
 * trusted.
 */
@injectable()
export class ImageStore extends Service {
  private readonly log: Logger;
  private readonly download: ImageDownload;
  private readonly directory: string;
  private readonly cacheBytes: number;
  private readonly fetching = new Map<string, { wanted: WantedImage; done: Promise<void> }>();
  private readonly pins = new Map<string, number>();

  constructor(client: ManagementClient, config: Config, paths: StatePaths, logging: Logging) {
    super();
    this.directory = paths.stateDir('images');
    this.cacheBytes = config.section<ImageConfig>('image').cacheBytes;
    this.log = logging.for('image-cache');
    this.download = new ImageDownload(client, this.log);
  }

  /** Removes what interrupted downloads left. */
  override async start(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o711 });
    for (const file of await readdir(this.directory)) {
      const orphan = !file.endsWith('.raw') && !(await this.exists(file.replace(/\.[a-z]+$/, '.raw')));
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
      if (isDeepStrictEqual(filesOf(running.wanted), filesOf(wanted))) return { cached: false };
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
  async use<T>(imageId: string, work: (path: string, kernel: CachedKernel | null) => Promise<T>): Promise<T> {
    this.pins.set(imageId, (this.pins.get(imageId) ?? 0) + 1);
    try {
      return await work(await this.path(imageId), await this.kernel(imageId));
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
    const { imageId } = wanted;
    const manifest = await this.manifest(imageId);
    const files = filesOf(wanted);
    if (manifest && isDeepStrictEqual(filesOf(manifest), files)) {
      await this.touch(imageId);
      return true;
    }
    await this.drop(imageId);
    await this.evict(files.reduce((sum, { bytes }) => sum + bytes, 0));
    const part = (suffix: string): string => this.file(imageId, suffix) + partSuffix;
    try {
      for (const { name, suffix, sha256, bytes } of files) {
        await this.download.download({ imageId, name, sha256, bytes }, part(suffix), ctx);
        await chmod(part(suffix), 0o444);
      }
      const { sha256, virtualBytes, kernel } = wanted;
      await writeFileAtomic(
        this.manifestFile(imageId),
        formatRecord(manifestForm, { sha256, virtualBytes, ...(kernel && { kernel }) }),
      );
      for (const { suffix } of files) await rename(part(suffix), this.file(imageId, suffix));
      await syncDirectory(this.directory);
      return false;
    } catch (error) {
      for (const { suffix } of files) await rm(part(suffix), { force: true });
      await this.drop(imageId);
      if (isFull(error))
        throw new VerbFailure('no_space', 'The disk of the image cache is full.', true, {}, { cause: error });
      throw error;
    }
  }

  private async kernel(imageId: string): Promise<CachedKernel | null> {
    const { kernel } = (await this.manifest(imageId)) ?? {};
    if (!kernel) return null;
    const initramfs = kernel.initramfs ? this.file(imageId, suffixes.initramfs) : null;
    return { kernel: this.file(imageId, suffixes.kernel), initramfs };
  }

  /** Makes room for `incoming` bytes: the ones unused for longest go, but none that is in use or was just fetched. */
  private async evict(incoming: number): Promise<void> {
    const entries: { imageId: string; bytes: number; usedAt: number }[] = [];
    for (const name of await readdir(this.directory)) {
      if (!name.endsWith('.raw')) continue;
      const imageId = name.slice(0, -4);
      const [used, ...files] = await Promise.all([
        stat(this.manifestFile(imageId)).catch(() => null),
        ...Object.values(suffixes).map((suffix) => stat(this.file(imageId, suffix)).catch(() => null)),
      ]);
      const bytes = files.reduce((sum, file) => sum + (file?.blocks ?? 0) * 512, 0);
      entries.push({ imageId, bytes, usedAt: used?.mtimeMs ?? 0 });
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
      for (const { suffix, bytes } of filesOf(reading.value))
        if ((await stat(this.file(imageId, suffix))).size !== bytes) return null;
      return reading.value;
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
    // The disk first, for the image stands by it.
    for (const suffix of Object.values(suffixes)) await rm(this.file(imageId, suffix), { force: true });
    await rm(this.manifestFile(imageId), { force: true });
  }

  private exists(file: string): Promise<boolean> {
    return stat(join(this.directory, file)).then(
      () => true,
      () => false,
    );
  }

  private file(imageId: string, suffix: string = suffixes.content): string {
    return join(this.directory, imageId + suffix);
  }

  private manifestFile(imageId: string): string {
    return join(this.directory, `${imageId}.json`);
  }
}
