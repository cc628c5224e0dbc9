import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Database } from '../../../core/db/database';
import type { Op } from '../../../core/db/op';
import { Logging } from '../../../core/telemetry/logging';
import type { ImageEntity } from './image.entity';
import { ImageFiles } from './image-files';
import type { StoredFacts } from './ingest/image-ingest';
import { ImageRepository } from './image.repository';

/** The stored files and the rows that name them, kept in step: under one lock per digest a file is put in place or removed. */
@injectable()
export class ImagePublisher {
  private readonly log: Logger;

  constructor(
    private readonly database: Database,
    private readonly images: ImageRepository,
    private readonly files: ImageFiles,
    logging: Logging,
  ) {
    this.log = logging.for('images');
  }

  /** Moves the raw file to its final name; the caller's transaction then names it. Bytes that are stored already are not stored twice. */
  async publish(op: Op, facts: StoredFacts): Promise<Pick<ImageEntity, 'sha256' | 'sourceFormat' | 'sourceBytes' | 'virtualBytes'>> {
    await this.images.lockDigest(op, facts.sha256);
    if ((await this.files.size(facts.sha256)) === facts.virtualBytes) await this.files.discard([facts.raw]);
    else await this.files.publish(facts.raw, facts.sha256);
    const { sha256, sourceFormat, sourceBytes, virtualBytes } = facts;
    return { sha256, sourceFormat, sourceBytes, virtualBytes };
  }

  /** Removes the file unless an image names it. */
  async release(sha256: string): Promise<void> {
    await this.database.tx(async (op) => {
      await this.images.lockDigest(op, sha256);
      if (!(await this.images.usesDigest(op, sha256))) await this.files.remove(sha256);
    });
  }

  /** Releases the digest of a row that names it no more, once the caller's transaction has committed. What a crash leaves here, the sweeper finds. */
  releaseAfter(op: Op, sha256: string | null): void {
    if (sha256 === null) return;
    op.afterCommit(() => void this.release(sha256).catch((error: unknown) => this.log.warn({ err: error, sha256 }, 'a stored file that no image names could not be removed yet')));
  }
}
