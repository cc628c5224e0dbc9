import express, { type Request, type Response } from 'express';
import { Problem } from '../errors/problem';

/** A JSON body arrives within this time, in milliseconds. */
const deadlineMs = 30_000;

const hasBody = (req: Request): boolean => req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

/** Reads JSON bodies of at most `limit` bytes (after decompression). */
export const jsonBodyReader = (limit: number): ((req: Request, res: Response) => Promise<unknown>) => {
  const parse = express.json({ limit, strict: false, type: () => true });
  /** The parsed body; undefined when there is none. Throws 400, 408, 413 or 415. */
  return async (req, res) => {
    if (!hasBody(req)) return undefined;
    const type = (req.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    if (type !== 'application/json' && !/^application\/[a-z0-9.-]+\+json$/.test(type)) {
      throw new Problem({ status: 415, code: 'unsupported_media_type', detail: 'The body must be application/json.' });
    }
    let timer: NodeJS.Timeout | undefined;
    try {
      await Promise.race([
        new Promise<void>((resolve, reject) => parse(req, res, (error?: unknown) => (error ? reject(error as Error) : resolve()))),
        new Promise<never>((_, reject) => {
          timer = setTimeout(() => {
            res.setHeader('connection', 'close');
            reject(new Problem({ status: 408, code: 'body_timeout', detail: 'The body did not arrive in time.' }));
          }, deadlineMs);
        }),
      ]);
    } finally {
      clearTimeout(timer);
    }
    return req.body as unknown;
  };
};
