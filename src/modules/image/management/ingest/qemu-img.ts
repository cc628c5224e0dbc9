import { open } from 'node:fs/promises';
import { injectable } from 'inversify';
import { z } from 'zod';
import { Config } from '../../../../core/config/config';
import { ExecError } from '../../../../core/host/processes/exec';
import { execSandboxed } from '../../../../core/host/sandbox/sandbox';
import { sandboxUsers } from '../../../../core/host/sandbox/sandbox-users';
import type { ImageConfig } from '../../contract/image.config';
import type { ImageFacts } from './image-header';
import { ImageRefused } from '../import/image-refused';

const infoSchema = z.object({
  format: z.string(),
  'virtual-size': z.number(),
  'backing-filename': z.string().optional(),
  encrypted: z.boolean().optional(),
  'format-specific': z.object({ data: z.object({ 'data-file': z.string().optional() }).optional() }).optional(),
});
const infoSeconds = 15;
/** Beyond the disk's size: file systems round. */
const slackBytes = 1024 * 1024;

/**
 * `qemu-img` in a child without rights that sees the image's files alone, with limits on memory, processor time, file
 * size and duration, and never left to guess a format.
 */
@injectable()
export class QemuImg {
  private readonly config: ImageConfig;
  private readonly user: number;

  constructor(config: Config) {
    this.config = config.section<ImageConfig>('image');
    this.user = sandboxUsers(config.core.sandbox).imageTools;
  }

  /** A second opinion on what our own parser said. Throws `ImageRefused`. */
  async confirm(path: string, facts: ImageFacts): Promise<void> {
    const { stdout } = await this.run(
      ['info', '--output=json', '-f', facts.format, '--', path],
      { from: path },
      infoSeconds,
      slackBytes,
    );
    const info = infoSchema.parse(JSON.parse(stdout));
    if (info['backing-filename'] !== undefined)
      throw new ImageRefused('backing_file', 'The image has a backing file and is not whole without it.');
    if (info['format-specific']?.data?.['data-file'] !== undefined)
      throw new ImageRefused(
        'external_data_file',
        'The image keeps its data in another file and is not whole without it.',
      );
    if (info.encrypted) throw new ImageRefused('image_encrypted', 'The image is encrypted.');
    if (info['virtual-size'] !== facts.virtualBytes)
      throw new ImageRefused(
        'invalid_header',
        `The image's size is not clear: ${facts.virtualBytes} or ${info['virtual-size']} bytes.`,
      );
  }

  /** Unfolds an image into a sparse raw file. Throws `ImageRefused`; `ENOSPC` as an error with that code. */
  async convert(from: string, to: string, facts: ImageFacts, signal: AbortSignal): Promise<void> {
    await this.run(
      ['convert', '-f', facts.format, '-O', 'raw', '-S', '4k', '--', from, to],
      { from, to },
      this.config.convertSeconds,
      facts.virtualBytes + slackBytes,
      signal,
    );
  }

  /**
   * Where a raw file has its holes, one extent a line of JSON; null when it has too many extents to tell, or cannot be
   * asked.
   */
  async map(path: string, signal: AbortSignal): Promise<string | null> {
    try {
      return (
        await this.run(
          ['map', '--output=json', '-f', 'raw', '--', path],
          { from: path },
          infoSeconds,
          slackBytes,
          signal,
        )
      ).stdout;
    } catch (error) {
      if (error instanceof ImageRefused) return null;
      throw error;
    }
  }

  private async run(
    args: string[],
    files: { from: string; to?: string },
    seconds: number,
    fileBytes: number,
    signal?: AbortSignal,
  ): Promise<{ stdout: string }> {
    // Its worker threads reserve address space for a stack and an arena each; with the defaults some sixteen of them
    // would use the limit up.
    const limits = [
      `--as=${this.config.convertMemoryBytes}`,
      '--stack=1048576',
      `--cpu=${seconds}`,
      `--fsize=${fileBytes}`,
      '--core=0',
    ];
    const { from, to } = files;
    try {
      // The owner stays as it is: the child is let in by its group, and can let in nobody else.
      await this.letIn(from, 'r', 0o640);
      if (to !== undefined) await this.letIn(to, 'w', 0o660);
      const sandbox = {
        user: this.user,
        readOnly: [from],
        writable: to === undefined ? [] : [to],
        network: 'none',
      } as const;
      return await execSandboxed(
        ['prlimit', ...limits, '--', 'nice', '-n', '12', 'ionice', '-t', '-c', '3'],
        'qemu-img',
        args,
        sandbox,
        {
          timeoutMs: seconds * 1000,
          maxBuffer: 4 * 1024 * 1024,
          env: { PATH: process.env['PATH'], LC_ALL: 'C', MALLOC_ARENA_MAX: '2' },
          ...(signal && { signal }),
        },
      );
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!(error instanceof ExecError)) throw error;
      if (/No space left|Disk quota exceeded/.test(error.stderr))
        throw Object.assign(new Error('the disk is full', { cause: error }), { code: 'ENOSPC' });
      const text = error.stderr
        .trim()
        .split('\n')
        .at(-1)
        ?.replace(/^qemu-img: /, '')
        .replace(/'?\/[^\s:']*'?:? ?/g, '')
        .slice(0, 200);
      throw new ImageRefused(
        'conversion_failed',
        `The image could not be read: ${text || `it took more than ${seconds} s or too much memory`}.`,
        { cause: error },
      );
    }
  }

  /**
   * Opens a file to the child's group, making it when it is to be written. Where we are not root ourselves, the child
   * is who we are.
   */
  private async letIn(path: string, flags: 'r' | 'w', mode: number): Promise<void> {
    const file = await open(path, flags, 0o600);
    try {
      if (process.getuid?.() !== 0) return;
      await file.chown(0, this.user);
      await file.chmod(mode);
    } finally {
      await file.close();
    }
  }
}
