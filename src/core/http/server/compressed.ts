import compression from 'compression';
import type { RequestHandler } from 'express';

/**
 * Compresses answers of 1 KiB and more for clients that take it. Not event streams, which would wait in the compressor;
 * nor answers that hold a secret (`no-transform`): beside what a caller chose itself, their compressed size would tell
 * of it.
 */
export const compressed = (): RequestHandler =>
  compression({
    threshold: 1024,
    filter: (req, res) =>
      !String(res.getHeader('content-type') ?? '').startsWith('text/event-stream') && compression.filter(req, res),
  });
