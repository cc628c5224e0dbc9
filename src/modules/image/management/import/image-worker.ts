import { hostname } from 'node:os';
import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import { Database } from '../../../../core/db/database';
import type { Image } from '../../contract/image.api';
import { ImageRepository } from '../images/image.repository';
import { ImageWithdrawn } from '../images/image-withdrawn';

const heartbeatMs = 2_000;

/**
 * This process as a worker on image bytes. The same name after a restart, so that what the forerunner left is known at
 * once.
 */
@injectable()
export class ImageWorker {
  readonly name: string;
  private readonly active = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly images: ImageRepository,
    config: Config,
  ) {
    this.name = `${hostname()}:${config.core.management.port}`;
  }

  /** Images that this process works on now. */
  get busy(): readonly string[] {
    return [...this.active];
  }

  /**
   * Runs work on an image with signs of life while it lasts. The signal fires with `ImageWithdrawn` once the image left
   * `state`.
   */
  async during<T>(
    imageId: string,
    state: Image['state'],
    work: (signal: AbortSignal) => Promise<T>,
    outer?: AbortSignal,
  ): Promise<T> {
    const controller = new AbortController();
    // eslint-disable-next-line no-restricted-globals -- ends with the work on one image
    const timer = setInterval(() => {
      this.images.alive(this.database.op, imageId, this.name, [state]).then(
        (ours) => {
          if (!ours) controller.abort(new ImageWithdrawn());
        },
        // The database is away: nobody else can take the image either, and the final write tells.
        () => undefined,
      );
    }, heartbeatMs);
    this.active.add(imageId);
    try {
      return await work(outer ? AbortSignal.any([controller.signal, outer]) : controller.signal);
    } catch (error) {
      // What stopped for the signal says so in its own words, or in those of whatever it was at.
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      clearInterval(timer);
      this.active.delete(imageId);
    }
  }
}
