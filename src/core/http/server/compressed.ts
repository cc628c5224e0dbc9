import compression from 'compression';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';

/** Smaller answers are not worth it. Bytes. */
const threshold = 1024;

/**
 * Compresses answers of 1 KiB and more for clients that take it. Not event streams, which would wait in the compressor;
 * nor answers that hold a secret (`no-transform`): beside what a caller chose itself, their compressed size would tell
 * of it.
 */
export const compressed = (): RequestHandler =>
  compression({
    threshold,
    filter: (req, res) =>
      !String(res.getHeader('content-type') ?? '').startsWith('text/event-stream') && compression.filter(req, res),
  });

const handler = compressed();

/** Has `answer` write an answer that is compressed where that is due. */
export const compressing = (req: IncomingMessage, res: ServerResponse, answer: () => void): void =>
  void handler(req as Request, res as Response, answer);

/** Ends an answer that is there as a whole; the compressor is put before it only where it has something to do. */
export const endCompressed = (req: IncomingMessage, res: ServerResponse, body: string): void => {
  const plain = req.headers['accept-encoding'] === undefined || Buffer.byteLength(body) < threshold;
  if (plain) {
    // A cache may not give to all what one of them cannot read.
    res.setHeader('vary', 'Accept-Encoding');
    res.end(body);
    return;
  }
  compressing(req, res, () => void res.end(body));
};
