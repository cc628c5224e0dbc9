import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Request, type Response } from 'express';
import { Problem } from '../../errors/problem';
import { parseJsonBytes } from './json-text';

const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

/**
 * Reads JSON bodies.
 * @param limit bytes at most, after decompression
 * @param deadlineMs the body arrives within this time
 */
export const jsonBodyReader = (
  limit: number,
  deadlineMs: number,
): ((req: IncomingMessage, res: ServerResponse) => Promise<unknown>) => {
  // It takes Node's own requests; what it read it leaves in `body`.
  const read = express.raw({ limit, type: () => true });
  /** The parsed body; undefined when there is none. Throws 400, 408, 413 or 415. */
  return async (req, res) => {
    if (!hasBody(req)) return undefined;
    checkType(req.headers['content-type'] ?? '');
    let timer: NodeJS.Timeout | undefined;
    try {
      await Promise.race([
        new Promise<void>((resolve, reject) =>
          read(req as Request, res as Response, (error?: unknown) => (error ? reject(error as Error) : resolve())),
        ),
        new Promise<never>((_, reject) => {
          timer = setTimeout(
            () =>
              reject(new Problem({ status: 408, code: 'body_timeout', detail: 'The body did not arrive in time.' })),
            deadlineMs,
          );
        }),
      ]);
    } finally {
      clearTimeout(timer);
    }
    try {
      return parseJsonBytes((req as Request).body as Buffer);
    } catch (cause) {
      throw new Problem({
        status: 400,
        code: 'malformed_json',
        detail: cause instanceof TypeError ? 'The body is not valid UTF-8.' : 'The body is not valid JSON.',
        cause,
      });
    }
  };
};

const checkType = (header: string): void => {
  const [media = '', ...parameters] = header
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (media !== 'application/json' && !/^application\/[a-z0-9.-]+\+json$/.test(media)) {
    throw new Problem({ status: 415, code: 'unsupported_media_type', detail: 'The body must be application/json.' });
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset))
    throw new Problem({ status: 415, code: 'unsupported_media_type', detail: 'The body must be JSON in UTF-8.' });
};
