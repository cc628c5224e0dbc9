import { injectable } from 'inversify';
import { Database } from '../../../core/db/database';
import type { Op } from '../../../core/db/op';
import type { ImageEntity } from './image.entity';
import { ImageFiles } from './image-files';
import type { StoredFacts } from './image-ingest';
import { ImageRepository } from './image.repository';

/** The stored files and the rows that name them, kept in step: under one lock per digest a file is put in place or removed. */
@injectable()
export class ImagePublisher {
  constructor(
    private readonly database: Database,
    private readonly images: ImageRepository,
    private readonly files: ImageFiles,
  ) {}

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
}
