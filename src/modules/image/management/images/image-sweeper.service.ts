import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Service } from '../../../../core/lifecycle/service';
import { Database } from '../../../../core/db/database';
import { Logging } from '../../../../core/telemetry/logging';
import type { PeriodicWork, PeriodicWorks } from '../../../../core/periodic/periodic-work';
import { ImageEvents } from './image.events';
import { ImageFiles } from './image-files';
import { ImagePublisher } from './image-publisher';
import { ImageRepository } from './image.repository';
import { ImageWorker } from '../import/image-worker';

/**
 * Settles what a crash left: uploads that nobody receives any more, temporary files, stored files that no image names.
 */
@injectable()
export class ImageSweeper extends Service implements PeriodicWorks {
  private readonly log: Logger;

  constructor(
    private readonly database: Database,
    private readonly images: ImageRepository,
    private readonly events: ImageEvents,
    private readonly worker: ImageWorker,
    private readonly files: ImageFiles,
    private readonly publisher: ImagePublisher,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('image-sweeper');
  }

  override async start(): Promise<void> {
    await this.files.prepare();
    // Later, what bears this process's name is its own, an upload perhaps that begins beside the sweep.
    await this.settleUploads(this.worker.name);
    await this.sweep();
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }

  /** Of each process: the folder is the one that it sees. */
  periodicWork(): PeriodicWork[] {
    const run = (signal: AbortSignal): Promise<void> => this.sweep(signal);
    return [{ name: 'image.sweep', everyMs: 60_000, scope: 'process', deadlineMs: 600_000, run }];
  }

  async sweep(signal?: AbortSignal): Promise<void> {
    await this.settleUploads(null);
    for (const { path, imageId } of await this.files.leftovers()) {
      if (signal?.aborted) return;
      if (!/^[0-9a-f-]{36}$/.test(imageId) || !(await this.images.inWork(this.database.op, imageId)))
        await this.files.discard([path]);
    }
    for (const sha256 of await this.files.stored()) {
      if (signal?.aborted) return;
      if (!(await this.images.usesDigest(this.database.op, sha256))) await this.publisher.release(sha256);
    }
  }

  /** @param forerunner the process whose uploads are over, however lately it was seen */
  private async settleUploads(forerunner: string | null): Promise<void> {
    await this.database.tx(async (op) => {
      for (const image of await this.images.abandoned(op, forerunner, this.worker.busy)) {
        this.log.warn({ imageId: image.id, state: image.state }, 'an upload was interrupted');
        if (image.state === 'deleting') {
          await this.images.remove(op, image.id);
          await this.events.changed(op, 'deleted', image);
          this.publisher.releaseAllAfter(op, image);
          continue;
        }
        const changes = {
          state: 'queued' as const,
          message: 'The upload was interrupted: the server stopped. Upload it again.',
        };
        await this.images.update(op, image.id, changes);
        await this.events.changed(op, 'updated', { ...image, ...changes });
      }
    });
  }
}
