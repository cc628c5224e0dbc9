import { setTimeout as sleep } from 'node:timers/promises';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Service } from '../../../core/lifecycle/service';
import { Config } from '../../../core/config/config';
import { Database } from '../../../core/db/database';
import { databaseIsAway } from '../../../core/db/sql-state';
import { SandboxMissing } from '../../../core/host/sandbox-missing';
import { Logging } from '../../../core/telemetry/logging';
import { Workflows } from '../../../core/workflow/request/workflows';
import type { ImageConfig } from '../contract/image.config';
import type { ImageEntity } from './image.entity';
import { FetchFailed } from './fetch/fetch-failed';
import { ImageFiles } from './image-files';
import { ImageIngest, type ReceivedSource } from './ingest/image-ingest';
import { ImagePublisher } from './image-publisher';
import { ImageRefused } from './image-refused';
import { ImageRepository } from './image.repository';
import { ImageWithdrawn } from './image-withdrawn';
import { ImageWorker } from './image-worker';
import { imageLock } from './workflows/image-lock';

const pollMs = 5_000;
const attempts = 6;
/** Downloads that end the process that reads them. */
const maxCrashes = 3;
/** Processes of management that an import may take with it, whether by its doing or not. */
const mostDeaths = 3;

/**
 * Moves the bytes of URL imports: fetches, checks and stores them, and records how far it is for the task that waits.
 */
@injectable()
export class ImageImports extends Service {
  private readonly config: ImageConfig;
  private readonly log: Logger;
  private readonly stopping = new AbortController();
  private readonly running = new Map<string, Promise<void>>();
  /** Still recorded as this process's work, for the database was away when it ended. */
  private readonly left = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly images: ImageRepository,
    private readonly worker: ImageWorker,
    private readonly ingest: ImageIngest,
    private readonly files: ImageFiles,
    private readonly publisher: ImagePublisher,
    private readonly workflows: Workflows,
    config: Config,
    logging: Logging,
  ) {
    super();
    this.config = config.section<ImageConfig>('image');
    this.log = logging.for('image-imports');
  }

  override async start(): Promise<void> {
    this.timer = setInterval(() => this.kick(), pollMs);
    this.kick();
    await Promise.resolve();
  }

  override async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort(new Error('the server stops'));
    await this.looking;
    await Promise.allSettled(this.running.values());
  }

  /** Looks for work now. */
  kick(): void {
    if (this.stopping.signal.aborted) return;
    this.looking = this.looking
      .then(() => this.look())
      .catch((error: unknown) => this.log.warn({ err: error }, 'could not look for imports'));
  }

  private async look(): Promise<void> {
    while (this.running.size < this.config.imports && !this.stopping.signal.aborted) {
      const image = await this.images.claimImport(
        this.database.op,
        this.worker.name,
        this.worker.busy,
        [...this.left],
        this.config.importsPerProject,
      );
      if (!image) return;
      this.left.delete(image.id);
      const work = this.worker
        .during(image.id, 'importing', (signal) => this.run(image, signal), this.stopping.signal)
        .catch((error: unknown) => this.log.warn({ err: error, imageId: image.id }, 'an import was left'))
        .finally(() => {
          this.running.delete(image.id);
          this.kick();
        });
      this.running.set(image.id, work);
    }
  }

  private async run(image: ImageEntity, signal: AbortSignal): Promise<void> {
    const { source, raw } = this.files.temporary(image.id);
    try {
      if (image.deaths >= mostDeaths) throw new ProcessDied(image.deaths);
      await this.files.discard((await this.files.leftovers()).filter((f) => f.imageId === image.id).map((f) => f.path));
      const received = await this.fetch(image, source, signal);
      if (!(await this.record(image.id, { phase: 'fetched', sourceBytes: received.bytes, deaths: 0 }))) return;
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
      await this.files.discard([source]);
      await this.database.tx(async (op) => {
        const ours = await this.images.updateImport(op, image.id, this.worker.name, {
          ...(await this.publisher.publish(op, image.projectId, facts)),
          phase: 'stored',
        });
        if (!ours) throw new ImageWithdrawn();
        await this.workflows.wake(op, imageLock(image.id));
      });
    } catch (error) {
      // First: who reads that the import failed finds nothing of it.
      await this.files.discard([source, raw]);
      await this.fail(image, error, signal);
    } finally {
      await this.files.discard([source, raw]);
    }
  }

  private async fetch(image: ImageEntity, path: string, signal: AbortSignal): Promise<ReceivedSource> {
    let crashes = 0;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.ingest.fetch(image.url ?? '', path, image.checksum, signal);
      } catch (error) {
        const brokenOff =
          (error as NodeJS.ErrnoException).code !== 'ENOSPC' &&
          !(error instanceof ImageRefused && error.code !== 'image_truncated');
        const again = error instanceof FetchFailed ? error.retry : brokenOff && !(error instanceof SandboxMissing);
        if (error instanceof FetchFailed && error.code === 'fetch_crashed') crashes += 1;
        if (signal.aborted || !again || attempt >= attempts || crashes >= maxCrashes) throw error;
        await this.files.discard([path]);
        this.log.info({ err: error, imageId: image.id, attempt }, 'a download failed and is tried again');
        await sleep(Math.min(30_000, 500 * 2 ** attempt), undefined, { signal });
      }
    }
  }

  /**
   * A server that stops leaves the image to the next one; a withdrawn image is nobody's; without the database it is
   * begun anew; everything else ends the import.
   */
  private async fail(image: ImageEntity, error: unknown, signal: AbortSignal): Promise<void> {
    if (this.stopping.signal.aborted) {
      await this.images
        .updateImport(this.database.op, image.id, this.worker.name, { worker: null, phase: 'fetching' })
        .catch(() => undefined);
      return;
    }
    if (error instanceof ImageWithdrawn || signal.reason instanceof ImageWithdrawn) return;
    if (databaseIsAway(error)) {
      this.left.add(image.id);
      this.log.warn({ err: error, imageId: image.id }, 'the database went away under an import; it begins anew');
      return;
    }
    const [failureCode, message] = describe(error);
    if (failureCode === 'import_failed' || failureCode === 'no_sandbox')
      this.log.error({ err: error, imageId: image.id }, 'an import failed');
    await this.record(image.id, { phase: 'failed', failureCode, message });
  }

  private record(
    imageId: string,
    changes: Partial<Pick<ImageEntity, 'phase' | 'failureCode' | 'message' | 'sourceBytes' | 'deaths'>>,
  ): Promise<boolean> {
    return this.database.tx(async (op) => {
      const ours = await this.images.updateImport(op, imageId, this.worker.name, changes);
      await this.workflows.wake(op, imageLock(imageId));
      return ours;
    });
  }
}

class ProcessDied extends Error {
  constructor(times: number) {
    super(`The import was given up: the server's process died ${times} times while it worked on it.`);
  }
}

const describe = (error: unknown): [code: string, message: string] => {
  if (error instanceof ProcessDied) return ['process_died', error.message];
  if (error instanceof ImageRefused || error instanceof FetchFailed) return [error.code, error.message];
  if (['ENOSPC', 'EDQUOT'].includes(String((error as NodeJS.ErrnoException).code)))
    return ['no_space', 'The server has no room for the image.'];
  if (error instanceof SandboxMissing)
    return ['no_sandbox', 'The server cannot read images at the moment; its operator has to mend that.'];
  return [
    'import_failed',
    'The image could not be fetched: the connection broke again and again, or the server could not store it.',
  ];
};
