import { join } from 'node:path';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../../core/config/config';
import { existing, nameServiceFiles } from '../../../../core/host/sandbox/name-service';
import { sandboxUsers } from '../../../../core/host/sandbox/sandbox-users';
import { ChildDied, runScript } from '../../../../core/host/processes/script-child';
import { Logging } from '../../../../core/telemetry/logging';
import type { ImageConfig } from '../../contract/image.config';
import { ImageFiles } from '../images/image-files';
import { ImageRefused } from '../import/image-refused';
import { ImageSpace, type SpaceHold } from '../ingest/image-space';
import { FetchFailed } from './fetch-failed';
import { fetchReport, type FetchJob, type FetchReport } from './fetch-messages';

const script = join(__dirname, 'fetch-child');
const silenceMs = 60_000;
const dataBytes = 1024 ** 3;
/** Decrypting and hashing of the largest image on a slow processor. */
const cpuSeconds = 4 * 3600;

/** Bytes that have arrived, and how many there should be in all; null when the server did not say. */
export type HeardBytes = (bytes: number, announced: number | null) => void;

export interface FetchedBytes {
  bytes: number;
  sha256: string;
  sha512: string | null;
  /** As the server named it; it decides nothing. */
  contentType: string | null;
}

/**
 * Fetches image URLs, each in a child process with limits and without rights: whatever the server sends, it is the
 * child that it meets.
 */
@injectable()
export class ImageFetcher {
  private readonly config: ImageConfig;
  private readonly log: Logger;
  private readonly user: number;

  constructor(
    private readonly files: ImageFiles,
    private readonly space: ImageSpace,
    config: Config,
    logging: Logging,
  ) {
    this.config = config.section<ImageConfig>('image');
    this.user = sandboxUsers(config.core.sandbox).imageTools;
    this.log = logging.for('image-fetcher');
  }

  /**
   * Writes what the URL has to a new file at `path`. Throws `FetchFailed`, `ImageRefused`, `ENOSPC` and the signal's
   * reason.
   * @param sha512 whether that digest is wanted too
   */
  async fetch(
    url: string,
    path: string,
    sha512: boolean,
    signal: AbortSignal,
    heard: HeardBytes,
  ): Promise<FetchedBytes> {
    const { allowPrivateUrls, maxBytes, minBytesPerSecond, paceSeconds } = this.config;
    const job: FetchJob = {
      url,
      allowPrivate: allowPrivateUrls,
      maxBytes,
      sha512,
      silenceMs,
      minBytesPerSecond,
      paceWindowMs: paceSeconds * 1000,
    };
    const hold = this.space.open();
    const file = await this.files.openForChild(path);
    try {
      return await this.run(job, file.fd, hold, AbortSignal.any([signal, hold.signal]), heard);
    } catch (error) {
      if (!(error instanceof ChildDied)) throw error;
      this.log.error(
        { server: new URL(url).host, exitCode: error.exitCode, signal: error.signal, stderr: error.stderr, err: error },
        'the process that fetched an image died',
      );
      throw new FetchFailed(
        'fetch_crashed',
        'The download was given up: what the server sent ended the process that read it.',
        true,
        { cause: error },
      );
    } finally {
      hold.close();
      await file.close();
    }
  }

  private async run(
    job: FetchJob,
    fd: number,
    hold: SpaceHold,
    signal: AbortSignal,
    heard: HeardBytes,
  ): Promise<FetchedBytes> {
    const { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR } = process.env;
    const readOnly = [
      ...(await nameServiceFiles()),
      ...(await existing([NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR])),
    ];
    let contentType: string | null = null;
    let announced: number | null = null;
    return runScript<FetchReport, FetchedBytes>({
      script,
      limits: { cpuSeconds, fileBytes: job.maxBytes, dataBytes },
      sandbox: { user: this.user, network: 'inherit', readOnly },
      job,
      files: [fd],
      env: { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR },
      reports: fetchReport,
      signal,
      heard: async (report) => {
        if (report.kind === 'begun') {
          ({ contentType, announced } = report);
          if (announced !== null && announced <= job.maxBytes) await hold.expect(announced);
        } else if (report.kind === 'progress') {
          hold.wrote(report.bytes);
          heard(report.bytes, announced);
        } else if (report.kind === 'failed') throw failureOf(report);
        else return { bytes: report.bytes, sha256: report.sha256, sha512: report.sha512, contentType };
        return undefined;
      },
    });
  }
}

const failureOf = ({ code, message, retry }: FetchReport & { kind: 'failed' }): Error => {
  if (code === 'no_space') return Object.assign(new Error(message), { code: 'ENOSPC' });
  if (code === 'image_too_large' || code === 'image_truncated') return new ImageRefused(code, message);
  return new FetchFailed(code, message, retry);
};
