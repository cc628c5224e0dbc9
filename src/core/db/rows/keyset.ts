import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { z } from 'zod';
import { decodeCursor, encodeCursor } from './cursor';
import { entitiesOf } from './rows';

/**
 * The sort order that it belongs to, the sort column's value of the last row as text, and that row's id, which makes
 * equal values distinct.
 */
const position = (sort: string, type: 'timestamptz' | 'text') =>
  z.tuple([
    z.literal(sort),
    type === 'timestamptz' ? z.iso.datetime() : z.string().refine((value) => !value.includes('\u0000')),
    z.uuid(),
  ]);

/**
 * Keyset pagination on one column and the id: each page costs the same at any depth, and a row that stays is seen
 * exactly once. A cursor of another list or sort order, or one that nobody issued, is 400 `invalid_cursor`. Timestamps
 * travel as microsecond text, for a JS date would cut them to milliseconds and skip rows.
 */
export const keysetPage = async <E extends ObjectLiteral>(
  query: SelectQueryBuilder<E>,
  options: {
    alias: string;
    column: string;
    type: 'timestamptz' | 'text';
    descending: boolean;
    sort: string;
    limit: number;
    cursor?: string | undefined;
  },
): Promise<{ rows: E[]; next: string | null }> => {
  const { alias, column, descending } = options;
  const order = descending ? 'DESC' : 'ASC';
  const idColumn = `${alias}.id`;
  const key = `${alias}.${column}`;
  const after = decodeCursor(options.cursor, position(options.sort, options.type));
  if (after) {
    const [, value, id] = after;
    query.andWhere(
      `(${key}, ${idColumn}) ${descending ? '<' : '>'} (CAST(:cursorValue AS ${options.type}), CAST(:cursorId AS uuid))`,
      { cursorValue: value, cursorId: id },
    );
  }
  // An expression, never the bare column: under an alias that would take the column away from the entity.
  const keyText =
    options.type === 'timestamptz'
      ? `to_char(${key} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
      : `(${key} || '')`;
  const found = await query
    .addSelect(keyText, 'keyset_value')
    .orderBy(key, order)
    .addOrderBy(idColumn, order)
    .limit(options.limit + 1)
    .getRawMany<Record<string, unknown>>();
  const { metadata } = query.expressionMap.mainAlias ?? {};
  if (!metadata) throw new Error('a page is of one kind of row');
  const shown = found.slice(0, options.limit);
  const last = shown.at(-1);
  return {
    rows: entitiesOf<E>(metadata, shown, ({ databaseName }) => `${alias}_${databaseName}`),
    next:
      found.length > shown.length && last
        ? encodeCursor([options.sort, String(last['keyset_value']), String(last[`${alias}_id`])])
        : null,
  };
};
