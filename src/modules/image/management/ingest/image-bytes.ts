import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Config } from '../../../../core/config/config';
import { sandboxUsers } from '../../../../core/host/sandbox/sandbox-users';
import { ChildDied, runScript } from '../../../../core/host/processes/script-child';
import { Logging } from '../../../../core/telemetry/logging';
import type { ImageConfig } from '../../contract/image.config';
import { ImageRefused } from '../import/image-refused';
import { bytesReport, type BytesJob, type BytesReport } from './bytes-messages';

const script = join(__dirname, 'bytes-child');
const dataBytes = 1024 ** 3;
/** It has no file to write to but standard error. */
const writtenBytes = 1024 ** 2;

export type BytesDone = BytesReport & { kind: 'done' };

/**
 * Inspects and hashes image files, each time in a child process with limits, at low priority, without rights and
 * without a file but the image's.
 */
@injectable()
export class ImageBytes {
  private readonly config: ImageConfig;
  private readonly log: Logger;
  private readonly user: number;

  constructor(config: Config, logging: Logging) {
    this.config = config.section<ImageConfig>('image');
    this.user = sandboxUsers(config.core.sandbox).imageTools;
    this.log = logging.for('image-bytes');
  }

  /** Throws `ImageRefused` and the signal's reason. */
  async read(path: string, job: BytesJob, signal: AbortSignal): Promise<BytesDone> {
    const { convertSeconds } = this.config;
    const late = AbortSignal.timeout(convertSeconds * 1000);
    const file = await open(path, 'r');
    try {
      return await runScript<BytesReport, BytesDone>({
        script,
        limits: { cpuSeconds: convertSeconds, fileBytes: writtenBytes, dataBytes },
        sandbox: { user: this.user, network: 'none' },
        job,
        files: [file.fd],
        reports: bytesReport,
        signal: AbortSignal.any([signal, late]),
        heard: async (report) => {
          if (report.kind === 'refused') throw new ImageRefused(report.code, report.message);
          return Promise.resolve(report);
        },
      });
    } catch (error) {
      if (late.aborted && !signal.aborted)
        throw new ImageRefused('conversion_failed', `The image could not be read within ${convertSeconds} s.`, {
          cause: error,
        });
      if (!(error instanceof ChildDied)) throw error;
      this.log.error(
        { exitCode: error.exitCode, signal: error.signal, stderr: error.stderr, err: error },
        'the process that read an image died',
      );
      throw new ImageRefused(
        'conversion_failed',
        'The image could not be read: what is in it ended the process that reads it.',
        { cause: error },
      );
    } finally {
      await file.close();
    }
  }
}
