import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../../core/config/config';
import { Database } from '../../../../core/db/database';
import type { Op } from '../../../../core/db/rows/op';
import { Logging } from '../../../../core/telemetry/logging';
import type { ImageConfig } from '../../contract/image.config';
import type { ImageEntity } from './image.entity';
import { ImageFiles } from './image-files';
import type { StoredFacts } from '../ingest/image-ingest';
import { ImageRefused } from '../import/image-refused';
import { ImageRepository } from './image.repository';

export type NamedFile = Pick<ImageEntity, 'sha256' | 'sourceFormat' | 'sourceBytes' | 'virtualBytes' | 'storedBytes'> &
  Partial<Pick<ImageEntity, 'firmware'>>;

type Of = Pick<ImageEntity, 'projectId' | 'firmware' | 'commandLine'>;

/**
 * The stored files and the rows that name them, kept in step: under one lock per digest a file is put in place or
 * removed.
 */
@injectable()
export class ImagePublisher {
  private readonly config: ImageConfig;
  private readonly log: Logger;

  constructor(
    private readonly database: Database,
    private readonly images: ImageRepository,
    private readonly files: ImageFiles,
    config: Config,
    logging: Logging,
  ) {
    this.config = config.section<ImageConfig>('image');
    this.log = logging.for('images');
  }

  /** Throws `ImageRefused` when the project would hold more than it may with so many bytes more. */
  async admit(op: Op, projectId: string, bytes: number): Promise<void> {
    const { maxProjectBytes } = this.config;
    const stored = await this.images.storedIn(op, projectId);
    if (stored + bytes > maxProjectBytes) {
      throw new ImageRefused(
        'project_full',
        `The image takes ${bytes} bytes on the disk, and the project's images take ${stored} of the ${maxProjectBytes} that they may. Delete some of them first.`,
      );
    }
  }

  /**
   * Moves the raw file to its final name; the caller's transaction then names it. Bytes that are stored already are not
   * stored twice, but count for each project. Throws `ImageRefused` when the project holds too much.
   */
  async publish(op: Op, image: Of, facts: StoredFacts): Promise<NamedFile> {
    const named = await this.name(op, image, facts);
    await this.place(op, facts);
    return named;
  }

  /**
   * What the row is to say of a raw file that is not in its place yet. From the commit on no sweep takes the stored file
   * away. Its firmware is what the user named, or what was found. Throws `ImageRefused` when the project holds too much.
   */
  async name(op: Op, { projectId, firmware, commandLine }: Of, facts: StoredFacts): Promise<NamedFile> {
    const storedBytes = await this.files.allocatedBytes(facts.raw);
    await this.admit(op, projectId, storedBytes);
    const { sha256, sourceFormat, sourceBytes, virtualBytes, boots } = facts;
    const found = firmware === 'any' && commandLine === null && boots !== undefined ? { firmware: boots } : {};
    return { sha256, sourceFormat, sourceBytes, virtualBytes, storedBytes, ...found };
  }

  /** Moves the raw file to its place, or drops it where its bytes are stored already. May be done twice. */
  async place(op: Op, facts: Pick<StoredFacts, 'raw' | 'sha256' | 'virtualBytes'>): Promise<void> {
    await this.images.lockDigest(op, facts.sha256);
    if ((await this.files.size(facts.sha256)) === facts.virtualBytes) await this.files.discard([facts.raw]);
    else await this.files.publish(facts.raw, facts.sha256);
  }

  /** Removes the file unless an image names it. */
  async release(sha256: string): Promise<void> {
    await this.database.tx(async (op) => {
      await this.images.lockDigest(op, sha256);
      if (!(await this.images.usesDigest(op, sha256))) await this.files.remove(sha256);
    });
  }

  /** As `releaseAfter`, of all that a row names which is gone. */
  releaseAllAfter(op: Op, { sha256, kernelSha256, initramfsSha256 }: ImageEntity): void {
    for (const digest of [sha256, kernelSha256, initramfsSha256]) this.releaseAfter(op, digest);
  }

  /**
   * Releases the digest of a row that names it no more, once the caller's transaction has committed. What a crash
   * leaves here, the sweeper finds.
   */
  releaseAfter(op: Op, sha256: string | null): void {
    if (sha256 === null) return;
    op.afterCommit(
      () =>
        void this.release(sha256).catch((error: unknown) =>
          this.log.warn({ err: error, sha256 }, 'a stored file that no image names could not be removed yet'),
        ),
    );
  }
}
