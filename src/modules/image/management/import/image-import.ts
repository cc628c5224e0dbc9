import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Database } from '../../../../core/db/database';
import { databaseIsAway } from '../../../../core/db/sql-state';
import { SandboxMissing } from '../../../../core/host/sandbox/sandbox-missing';
import { Logging } from '../../../../core/telemetry/logging';
import type { ReportProgress } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { FetchFailed } from '../fetch/fetch-failed';
import { ImageFiles } from '../images/image-files';
import { ImagePublisher } from '../images/image-publisher';
import { ImageRefused } from './image-refused';
import type { ImageEntity } from '../images/image.entity';
import { ImageIngest, type ReceivedSource, type StoredFacts } from '../ingest/image-ingest';

const attempts = 6;
/** Downloads that end the process that reads them. */
const maxCrashes = 3;

/** What fetching gave. `file` without its folder: the management processes share it, wherever each has it. */
export type Fetched = Omit<ReceivedSource, 'path'> & { file: string };

/** What converting gave. `file` as above. */
export type Converted = Omit<StoredFacts, 'raw'> & { file: string };

/** One run of work on an import's bytes. */
export interface ImportRun {
  image: ImageEntity;
  /** Part of the names of its files: no other run has it. */
  run: string;
  signal: AbortSignal;
  progress: ReportProgress;
}

/**
 * Moves the bytes of an image with a URL: fetches, checks and unfolds them. What is final is thrown as `PermanentError`;
 * without the database it is tried again.
 */
@injectable()
export class ImageImport {
  private readonly log: Logger;

  constructor(
    private readonly database: Database,
    private readonly ingest: ImageIngest,
    private readonly files: ImageFiles,
    private readonly publisher: ImagePublisher,
    logging: Logging,
  ) {
    this.log = logging.for('image-import');
  }

  /** The bytes of the image's URL, on the disk under a name of this run. What forerunners left goes. */
  async fetch(work: ImportRun): Promise<Fetched> {
    return this.telling(work, async () => {
      const { source } = this.files.temporary(work.image.id, work.run);
      await this.files.discardOf(work.image.id);
      return this.fetchTo(source, work);
    });
  }

  /**
   * The raw image of what was fetched, on the disk under a name of this run. Raw bytes are not copied but renamed: a run
   * that was cut off takes them with it, and then they are fetched again.
   */
  async convert(work: ImportRun, fetched: Fetched): Promise<Converted> {
    return this.telling(work, async () => {
      const { image, signal } = work;
      const { source: anew, raw } = this.files.temporary(image.id, work.run);
      const source = this.files.incomingPath(fetched.file);
      const whole = (await this.files.incomingSize(source)) === fetched.bytes;
      await this.files.discardOf(image.id, whole ? [source] : []);
      const { file: _file, ...known } = whole ? fetched : await this.fetchTo(anew, work);
      const { raw: _raw, ...facts } = await this.ingest.convert(
        { ...known, path: whole ? source : anew },
        raw,
        {
          projectId: image.projectId,
          claimed: image.claimedFormat,
          checksum: image.checksum,
          admit: (bytes) => this.publisher.admit(this.database.op, image.projectId, bytes),
        },
        signal,
      );
      return { ...facts, file: basename(raw) };
    });
  }

  private async fetchTo(path: string, work: ImportRun): Promise<Fetched> {
    const { path: _path, ...received } = await this.download(path, work);
    await this.files.sync(path);
    return { ...received, file: basename(path) };
  }

  private async download(path: string, { image, signal, progress }: ImportRun): Promise<ReceivedSource> {
    let crashes = 0;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.ingest.fetch(image.url ?? '', path, image.checksum, signal, (bytes, announced) =>
          progress(announced ? (100 * bytes) / announced : 0, `${bytes} bytes`),
        );
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

  /** Says what a failure means to the user. */
  private async telling<T>({ image, signal }: ImportRun, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || databaseIsAway(error)) throw error;
      const [code, message] = describe(error);
      if (code === 'import_failed' || code === 'no_sandbox')
        this.log.error({ err: error, imageId: image.id }, 'an import failed');
      throw new PermanentError(code, message, {}, undefined, { cause: error });
    }
  }
}

/** Code and message for the image's owner. */
const describe = (error: unknown): [code: string, message: string] => {
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
