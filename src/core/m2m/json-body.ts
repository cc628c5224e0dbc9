import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJsonBytes } from '../http/routes/json-text';

/** The body is not JSON, or longer than allowed. */
export class BodyError extends Error {
  constructor(
    readonly code: 'malformed_json' | 'too_large',
    message: string,
  ) {
    super(message);
    this.name = 'BodyError';
  }
}

/** Reads and parses a JSON body of at most `limit` bytes. Throws `BodyError`. */
export const readJson = async (req: IncomingMessage, limit: number): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new BodyError('too_large', `the body is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  try {
    return parseJsonBytes(Buffer.concat(chunks));
  } catch (error) {
    throw new BodyError('malformed_json', error instanceof Error ? error.message : 'not JSON');
  }
};

export const sendJson = (res: ServerResponse, status: number, body: unknown): void => {
  const data = Buffer.from(JSON.stringify(body), 'utf8');
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': data.length });
  res.end(data);
};
