import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { SparseWriter } from '../../../core/host/files/sparse-writer';
import type { ManagementClient } from '../../../core/m2m/management/node-route';
import { VerbFailure, type VerbContext } from '../../../core/m2m/verbs/verb-handler';
import type { CachedFile } from './cached-files';

const attempts = 5;

export const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(String((error as NodeJS.ErrnoException).code));

export interface WantedFile extends Pick<CachedFile, 'name' | 'sha256' | 'bytes'> {
  imageId: string;
}

const noun = ({ name }: WantedFile): string => (name === 'content' ? 'image' : name);

/** Fetches files of images from management, each verified by its size and SHA-256. */
export class ImageDownload {
  constructor(
    private readonly client: ManagementClient,
    private readonly log: Logger,
  ) {}

  /** A broken connection is taken up where it broke; the digest runs on. */
  async download(wanted: WantedFile, part: string, ctx: Pick<VerbContext, 'signal' | 'progress'>): Promise<void> {
    const file = await open(part, 'w', 0o600);
    try {
      const writer = new SparseWriter(file);
      const hash = createHash('sha256');
      for (let attempt = 1; writer.bytes < wanted.bytes; attempt++) {
        const before = writer.bytes;
        try {
          await this.receive(wanted, writer, hash, ctx);
          if (writer.bytes < wanted.bytes)
            throw new Error(`the download ended after ${writer.bytes} of ${wanted.bytes} bytes`);
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
            { err: error, imageId: wanted.imageId, file: wanted.name, at: writer.bytes, attempt },
            'a download broke and is taken up again',
          );
          await sleep(200 * 2 ** attempt, undefined, { signal: ctx.signal });
        }
      }
      const sha256 = hash.digest('hex');
      if (sha256 !== wanted.sha256)
        throw new VerbFailure(
          'checksum_mismatch',
          `The ${noun(wanted)} arrived with the SHA-256 ${sha256}, and should have ${wanted.sha256}.`,
          true,
        );
      await writer.finish(wanted.bytes);
    } finally {
      await file.close();
    }
  }

  private async receive(
    wanted: WantedFile,
    writer: SparseWriter,
    hash: Hash,
    ctx: Pick<VerbContext, 'signal' | 'progress'>,
  ): Promise<void> {
    let stream: NodeJS.ReadableStream;
    try {
      stream = await this.client.download(`/images/${wanted.imageId}/${wanted.name}?from=${writer.bytes}`, ctx.signal);
    } catch (error) {
      const status = (error as { status?: unknown }).status;
      if (status === 404 || status === 409)
        throw new VerbFailure('image_gone', 'The image is no longer there to be fetched.', true, {}, { cause: error });
      throw error;
    }
    let percent = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (writer.bytes + chunk.length > wanted.bytes)
        throw new VerbFailure(
          'size_mismatch',
          `The ${noun(wanted)} is larger than the announced ${wanted.bytes} bytes.`,
          true,
        );
      hash.update(chunk);
      await writer.write(chunk);
      const now = Math.floor((writer.bytes / wanted.bytes) * 100);
      if (now > percent) ctx.progress((percent = now), `fetching the ${noun(wanted)}`);
    }
  }
}
