import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { injectable } from 'inversify';
import type { Access } from '../../../../core/auth/access';
import { Config } from '../../../../core/config/config';
import { Database } from '../../../../core/db/database';
import type { Op } from '../../../../core/db/rows/op';
import { databaseIsAway } from '../../../../core/db/sql-state';
import { conflict, databaseUnavailable, notFound, Problem } from '../../../../core/errors/problem';
import { SandboxMissing } from '../../../../core/host/sandbox/sandbox-missing';
import type { Image } from '../../contract/image.api';
import type { ImageConfig } from '../../contract/image.config';
import { attended } from '../fetch/attended';
import { LeastPace } from '../fetch/least-pace';
import { ImageEvents } from '../images/image.events';
import type { ImageEntity } from '../images/image.entity';
import { ImageFiles } from '../images/image-files';
import type { BootPart } from '../ingest/boot-parts';
import { ImageIngest, type ReceivedSource } from '../ingest/image-ingest';
import { presentImage } from '../images/image.presenter';
import { ImagePublisher } from '../images/image-publisher';
import { ImageRefused } from './image-refused';
import { ImageRepository } from '../images/image.repository';
import { ImageService } from '../images/image.service';
import { ImageWithdrawn } from '../images/image-withdrawn';
import { ImageWorker } from './image-worker';

const drainMs = 5_000;

type Part = BootPart | 'content';
/** Puts the bytes in their place, and says what that makes of the image. */
type Store = (op: Op) => Promise<Partial<Omit<ImageEntity, 'id' | 'workerSeenAt'>> & Pick<ImageEntity, 'state'>>;

/** Takes the bytes of an image from a request. The bytes of a failed upload leave no file, and the image says why. */
@injectable()
export class ImageUploads {
  private readonly config: ImageConfig;

  constructor(
    private readonly database: Database,
    private readonly service: ImageService,
    private readonly images: ImageRepository,
    private readonly events: ImageEvents,
    private readonly worker: ImageWorker,
    private readonly ingest: ImageIngest,
    private readonly files: ImageFiles,
    private readonly publisher: ImagePublisher,
    config: Config,
  ) {
    this.config = config.section<ImageConfig>('image');
  }

  /**
   * 409 unless the image waits for its bytes, `image_without_kernel`, `kernel_missing`; 422 with a code for bytes that
   * are refused; 507 `no_space`, 503 `no_sandbox` or `database_unavailable`, and the image waits again.
   * @param part the disk, with which the image is ready, or what comes before it
   */
  async upload(access: Access, ref: string, part: Part, body: IncomingMessage): Promise<Image> {
    refuseEncoded(body);
    const image = await this.begin(access, ref, part);
    const { source, raw } = this.files.temporary(image.id);
    let stored: Image;
    try {
      stored = await this.worker.during(image.id, 'uploading', async (signal) => {
        const received = await this.ingest.receive(
          (stop) => this.chunksOf(body, stop),
          source,
          announcedLength(body),
          signal,
          part,
        );
        const store =
          part === 'content'
            ? await this.disk(image, received, raw, signal)
            : await this.bootFile(image, part, received, signal);
        return this.database.tx((op) => this.stored(op, image.id, store));
      });
    } catch (error) {
      await this.files.discard([source, raw]);
      const told = await this.failed(image.id, part, error);
      await drain(body);
      throw told;
    }
    await this.files.discard([source, raw]);
    return stored;
  }

  /** With its disk the image is ready. */
  private async disk(image: ImageEntity, received: ReceivedSource, raw: string, signal: AbortSignal): Promise<Store> {
    const facts = await this.ingest.convert(
      received,
      raw,
      {
        projectId: image.projectId,
        claimed: image.claimedFormat,
        checksum: image.checksum,
        admit: (bytes) => this.publisher.admit(this.database.op, image.projectId, bytes),
      },
      signal,
    );
    return async (op) => ({ ...(await this.publisher.publish(op, image, facts)), state: 'ready' });
  }

  /** Another one of before is let go; the image waits for what is still to come. */
  private async bootFile(
    image: ImageEntity,
    part: BootPart,
    received: ReceivedSource,
    signal: AbortSignal,
  ): Promise<Store> {
    const { sha256, bytes } = await this.ingest.accept(received, part, image.projectId, signal);
    return async (op) => {
      await this.publisher.admit(op, image.projectId, bytes);
      await this.publisher.place(op, { raw: received.path, sha256, virtualBytes: bytes });
      this.publisher.releaseAfter(op, part === 'kernel' ? image.kernelSha256 : image.initramfsSha256);
      const file =
        part === 'kernel'
          ? { kernelSha256: sha256, kernelBytes: bytes }
          : { initramfsSha256: sha256, initramfsBytes: bytes };
      return { ...file, state: 'queued' };
    };
  }

  private async stored(op: Op, imageId: string, store: Store): Promise<Image> {
    const now = await this.images.lock(op, imageId, 'update');
    if (now?.state !== 'uploading' || now.worker !== this.worker.name) throw new ImageWithdrawn();
    const changes = { ...(await store(op)), message: '' };
    await this.images.update(op, imageId, changes);
    await this.events.changed(op, 'updated', { ...now, ...changes });
    return presentImage({ ...now, ...changes });
  }

  /**
   * The body's chunks. A sender that goes away midway has sent a truncated image; a body left unread stays readable, so
   * that the answer gets through.
   */
  private async *chunksOf(body: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer> {
    const { minBytesPerSecond, paceSeconds } = this.config;
    const pace = new LeastPace(minBytesPerSecond, paceSeconds * 1000);
    const tooSlow = (): Error =>
      new UploadBroken(
        'upload_too_slow',
        `The upload was too slow: less than ${minBytesPerSecond} bytes per second over ${paceSeconds} s. Send the bytes again.`,
      );
    try {
      yield* attended(body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>, signal, pace, tooSlow);
    } catch (error) {
      if (signal.aborted || error instanceof UploadBroken) throw error;
      throw new UploadBroken(
        'upload_interrupted',
        'The upload broke off before all bytes had arrived. Send them again.',
        { cause: error },
      );
    }
  }

  private begin(access: Access, ref: string, part: Part): Promise<ImageEntity> {
    return this.database.tx(async (op) => {
      const found = await this.service.find(op, access, undefined, ref);
      this.service.assertOwn(found, access, ref);
      const image = await this.images.lock(op, found.id, 'update');
      if (!image) throw notFound('image', ref);
      if (image.state === 'uploading')
        throw conflict('upload_running', 'The bytes of this image are being uploaded already.');
      const { uploadsPerProject } = this.config;
      if ((await this.images.uploading(op, image.projectId)) >= uploadsPerProject) {
        throw new Problem({
          status: 429,
          code: 'too_many_uploads',
          detail: `The project uploads ${uploadsPerProject} images at the moment. Wait for one of them.`,
        });
      }
      if (image.state !== 'queued')
        throw conflict('image_not_queued', `The image is ${image.state} and takes no bytes. Create a new one.`, {
          state: image.state,
        });
      refusePart(image, part);
      const changes = { state: 'uploading' as const, message: '' };
      await this.images.update(op, image.id, changes);
      await this.images.setWorker(op, image.id, this.worker.name);
      await this.events.changed(op, 'updated', { ...image, ...changes });
      return { ...image, ...changes };
    });
  }

  /** Records the end of an upload that failed, and says what the sender is told. */
  private async failed(imageId: string, part: Part, error: unknown): Promise<unknown> {
    const { problem, state: after } = classify(error);
    // A kernel that is refused can be followed by another one; what the disk is decides what the image is.
    const state = part === 'content' ? after : 'queued';
    await this.database.tx(async (op) => {
      const image = await this.images.lock(op, imageId, 'update');
      if (!image) return;
      if (image.state === 'deleting') {
        await this.images.remove(op, imageId);
        await this.events.changed(op, 'deleted', image);
        this.publisher.releaseAllAfter(op, image);
        return;
      }
      if (image.state !== 'uploading' || image.worker !== this.worker.name) return;
      const changes = {
        state,
        message: problem instanceof Problem ? problem.detail : 'The upload failed on the server.',
      };
      await this.images.update(op, imageId, changes);
      await this.events.changed(op, 'updated', { ...image, ...changes });
    });
    return problem;
  }
}

/** The disk comes last: an image that is ready has all that it boots by. */
const refusePart = (image: ImageEntity, part: Part): void => {
  if (part !== 'content' && image.commandLine === null)
    throw conflict('image_without_kernel', 'The image was created without a kernel. Create one with `kernel`.');
  if (part === 'content' && image.commandLine !== null && image.kernelSha256 === null)
    throw conflict('kernel_missing', 'The image boots by a kernel of its own: send that first, and its disk last.');
};

/** The bytes did not all come, for a reason that has nothing to do with what they are. */
class UploadBroken extends Error {
  constructor(
    readonly code: 'upload_too_slow' | 'upload_interrupted',
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

const classify = (error: unknown): { problem: unknown; state: 'error' | 'queued' } => {
  if (error instanceof ImageRefused) {
    const { code, message } = error;
    const status = code === 'image_too_large' || code === 'project_full' ? 413 : 422;
    return {
      problem: new Problem({ status, code, detail: message, errors: [{ path: 'body', code, message }], cause: error }),
      state: code === 'project_full' ? 'queued' : 'error',
    };
  }
  if (error instanceof UploadBroken)
    return {
      problem: new Problem({ status: 408, code: error.code, detail: error.message, cause: error }),
      state: 'queued',
    };
  const system = String((error as NodeJS.ErrnoException).code);
  if (system === 'ENOSPC' || system === 'EDQUOT') {
    return {
      problem: new Problem({
        status: 507,
        code: 'no_space',
        detail: 'The server has no room for the image. Upload it again when there is.',
        cause: error,
      }),
      state: 'queued',
    };
  }
  if (error instanceof SandboxMissing) {
    return {
      problem: new Problem({
        status: 503,
        code: 'no_sandbox',
        detail: 'The server cannot read images at the moment; its operator has to mend that. Upload it again then.',
        cause: error,
      }),
      state: 'queued',
    };
  }
  if (databaseIsAway(error)) return { problem: databaseUnavailable(), state: 'queued' };
  if (error instanceof ImageWithdrawn)
    return {
      problem: conflict('image_deleted', 'The image was deleted while its bytes were uploaded.'),
      state: 'error',
    };
  return { problem: error, state: 'error' };
};

/**
 * Lets a sender finish that is still sending, for a while: one that only writes would see a broken connection instead
 * of the refusal. What arrives is thrown away.
 */
const drain = async (body: IncomingMessage): Promise<void> => {
  if (body.readableEnded || body.destroyed) return;
  body.resume();
  await finished(body, { signal: AbortSignal.timeout(drainMs) }).catch(() => undefined);
};

const announcedLength = (body: IncomingMessage): number | null => {
  const text = body.headers['content-length'];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
};

const refuseEncoded = (body: IncomingMessage): void => {
  const encoding = body.headers['content-encoding'] ?? 'identity';
  const multipart = (body.headers['content-type'] ?? '').toLowerCase().startsWith('multipart/');
  if (encoding !== 'identity' || multipart) {
    throw new Problem({
      status: 415,
      code: 'unsupported_media_type',
      detail: 'Send the bytes of the image as they are: no form and no content encoding.',
    });
  }
};
