import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { Problem } from '../../../errors/problem';
import { readJson } from '../../json-body';

/** Requests that say little. */
export const smallBody = 64 * 1024;
/** Everything that a host reports at once, after a reconnect. */
export const reportBody = 16 * 1024 * 1024;

/** The body of a node's request. Throws 400 `invalid_request` with the fields' paths, and `BodyError`. */
export const bodyOf = async <T>(req: IncomingMessage, schema: z.ZodType<T>, limit: number): Promise<T> => {
  const parsed = schema.safeParse(await readJson(req, limit));
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues
    .slice(0, 20)
    .map((i) => ({ path: `body.${i.path.join('.')}`, code: i.code, message: i.message }));
  throw new Problem({
    status: 400,
    code: 'invalid_request',
    detail: `The request is not valid: ${errors.map((e) => `${e.path}: ${e.message}`).join('; ')}`,
    errors,
  });
};
