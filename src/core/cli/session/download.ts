import { createWriteStream } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ApiSession } from './api-session';
import { usageFailure } from '../cli-failure';
import { formatBytes } from '../output/format';

const progressEveryMs = 200;

/**
 * Fetches what may be larger than memory into a file of the caller's alone. With `resume` it goes on at the end of what
 * lies there of an earlier attempt, where the server can. Progress on standard error when that is a terminal. Returns how
 * many bytes the file has.
 */
export const downloadFile = async (
  session: ApiSession,
  path: string,
  query: Record<string, string | number | boolean | undefined> | undefined,
  file: string,
  { resume = false }: { resume?: boolean } = {},
): Promise<number> => {
  const there = await stat(file).catch(() => null);
  if (there && !there.isFile()) throw usageFailure(`${file} is not a regular file`);
  if (there && !resume) throw usageFailure(`${file} is there already: name another, or go on with --resume`);
  const from = there?.size ?? 0;
  let shown = 0;
  const into = async (response: IncomingMessage): Promise<void> => {
    const goesOn = response.statusCode === 206;
    const begun = goesOn ? from : 0;
    const total = begun + Number(response.headers['content-length'] ?? 0);
    const started = performance.now();
    let got = 0;
    const meter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        got += chunk.length;
        const now = performance.now();
        if (process.stderr.isTTY && (now - shown > progressEveryMs || begun + got === total)) {
          shown = now;
          const rate = (got / Math.max(now - started, 1)) * 1000;
          process.stderr.write(
            `\r\u001b[Kdownloading ${Math.floor(((begun + got) / Math.max(total, 1)) * 100)}% of ${formatBytes(total)}, ${formatBytes(rate)}/s`,
          );
        }
        done(null, chunk);
      },
    });
    const target = createWriteStream(file, { flags: goesOn ? 'a' : 'w', mode: 0o600 });
    // One that was there may be readable for others.
    if (there) await chmod(file, 0o600);
    await pipeline(response, meter, target);
  };
  try {
    await session.call<void>(() => ({
      method: 'GET',
      path,
      into,
      ...(query && { query }),
      ...(from > 0 && { range: `bytes=${from}-` }),
    }));
  } finally {
    if (shown > 0) process.stderr.write('\n');
  }
  return (await stat(file)).size;
};
