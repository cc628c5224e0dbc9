import { z } from 'zod';
import { Problem } from '../../errors/problem';

/** Makes a list's opaque cursor of the sort key of its last row. */
export const encodeCursor = (key: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');

/** 400 `invalid_cursor`. */
export const invalidCursor = (cause?: unknown): Problem => {
  const message = 'The cursor is not one that this list gave.';
  return new Problem({
    status: 400,
    code: 'invalid_cursor',
    detail: message,
    errors: [{ path: 'query.cursor', code: 'invalid_cursor', message }],
    cause,
  });
};

/**
 * The sort key that a cursor stands for, checked against `key`; undefined when there is no cursor.
 * Throws 400 `invalid_cursor`: cursors come from outside and may be anything.
 */
export const decodeCursor = <T extends z.ZodType>(cursor: string | undefined, key: T): z.output<T> | undefined => {
  if (cursor === undefined) return undefined;
  try {
    return key.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch (cause) {
    throw invalidCursor(cause);
  }
};

/** Splits `limit + 1` fetched rows into a page and the cursor of the next one. */
export const pageFrom = <T>(
  rows: T[],
  limit: number,
  key: (row: T) => readonly (string | number)[],
): { items: T[]; next: string | null } => {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? encodeCursor(key(last)) : null };
};
