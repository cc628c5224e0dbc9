import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { Problem } from '../errors/problem';

const badCursor = (): Problem =>
  new Problem({
    status: 400,
    code: 'invalid_request',
    detail: 'The cursor is not one of this list. Start again without it.',
    errors: [{ path: 'query.cursor', code: 'invalid_cursor', message: 'not a cursor of this list' }],
  });

/** The sort key of a list's last row: its column value as text, and its id, which makes equal values distinct. */
export interface KeysetPosition {
  value: string;
  id: string;
}

export const encodeCursor = (sort: string, position: KeysetPosition): string => Buffer.from(JSON.stringify([sort, position.value, position.id])).toString('base64url');

/** Throws 400 for a cursor of another list or sort order, or one that nobody issued. */
export const decodeCursor = (sort: string, cursor: string): KeysetPosition => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(parsed) && parsed.length === 3 && parsed[0] === sort && typeof parsed[1] === 'string' && /^[0-9a-f-]{36}$/.test(String(parsed[2])) && !parsed[1].includes('\u0000')) {
      return { value: parsed[1], id: String(parsed[2]) };
    }
  } catch {
    throw badCursor();
  }
  throw badCursor();
};

/**
 * Keyset pagination on one column and the id: each page costs the same at any depth, and a row that stays is seen exactly once.
 * Timestamps travel as microsecond text, for a JS date would cut them to milliseconds and skip rows.
 */
export const keysetPage = async <E extends ObjectLiteral>(
  query: SelectQueryBuilder<E>,
  options: { alias: string; column: string; type: 'timestamptz' | 'text'; descending: boolean; sort: string; limit: number; cursor?: string | undefined },
): Promise<{ rows: E[]; next: string | null }> => {
  const { alias, column, descending } = options;
  const order = descending ? 'DESC' : 'ASC';
  const idColumn = `${alias}.id`;
  const key = `${alias}.${column}`;
  if (options.cursor !== undefined) {
    const at = decodeCursor(options.sort, options.cursor);
    if (options.type === 'timestamptz' && Number.isNaN(Date.parse(at.value))) throw badCursor();
    query.andWhere(`(${key}, ${idColumn}) ${descending ? '<' : '>'} (CAST(:cursorValue AS ${options.type}), CAST(:cursorId AS uuid))`, { cursorValue: at.value, cursorId: at.id });
  }
  // An expression, never the bare column: under an alias that would take the column away from the entity.
  const keyText = options.type === 'timestamptz' ? `to_char(${key} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')` : `(${key} || '')`;
  const { entities, raw } = await query
    .addSelect(keyText, 'keyset_value')
    .orderBy(key, order)
    .addOrderBy(idColumn, order)
    .limit(options.limit + 1)
    .getRawAndEntities<{ keyset_value: string }>();
  const rows = entities.slice(0, options.limit);
  const last = rows.length - 1;
  const more = entities.length > options.limit;
  const lastEntity = rows[last];
  const lastRaw = raw[last];
  return { rows, next: more && lastEntity && lastRaw ? encodeCursor(options.sort, { value: lastRaw.keyset_value, id: (lastEntity as unknown as { id: string }).id }) : null };
};
