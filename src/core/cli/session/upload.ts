import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import type { ApiSession } from './api-session';
import { usageFailure } from '../cli-failure';
import { formatBytes } from '../output/format';

/** The server may check and convert what came before it answers. */
const idleMs = 15 * 60_000;
const progressEveryMs = 200;

/** Sends a file as a raw body. Progress on standard error when that is a terminal. */
export const uploadFile = async <T>(session: ApiSession, path: string, file: string): Promise<T> => {
  const info = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw usageFailure(error.code === 'ENOENT' ? `there is no file ${file}` : `${file}: ${error.message}`);
  });
  if (!info.isFile()) throw usageFailure(`${file} is not a regular file`);
  const started = performance.now();
  let shown = 0;
  const meter = (): Transform => {
    let sent = 0;
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        sent += chunk.length;
        const now = performance.now();
        if (process.stderr.isTTY && (now - shown > progressEveryMs || sent === info.size)) {
          shown = now;
          const rate = (sent / Math.max(now - started, 1)) * 1000;
          process.stderr.write(
            `\r\u001b[Kuploading ${Math.floor((sent / Math.max(info.size, 1)) * 100)}% of ${formatBytes(info.size)}, ${formatBytes(rate)}/s`,
          );
        }
        done(null, chunk);
      },
    });
  };
  try {
    return await session.call<T>(
      () => ({
        method: 'PUT',
        path,
        stream: { content: createReadStream(file, { highWaterMark: 1024 * 1024 }).pipe(meter()), bytes: info.size },
        idleMs,
      }),
      60_000,
    );
  } finally {
    if (shown > 0) process.stderr.write('\n');
  }
};
