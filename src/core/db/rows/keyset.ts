import type { Newable } from 'inversify';
import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import { z } from 'zod';
import { plannedForValues } from '../preparing-client';
import type { Conditions } from './conditions';
import { decodeCursor, encodeCursor, invalidCursor } from './cursor';
import type { Op } from './op';
import { columnsOf, entitiesOf } from './rows';
import { SharedReads } from './shared-reads';

/**
 * The sort order that it belongs to, the sort column's value of the last row as text, and that row's id, which makes
 * equal values distinct.
 */
const positions = {
  timestamptz: z.tuple([z.string(), z.iso.datetime(), z.uuid()]),
  text: z.tuple([z.string(), z.string().refine((value) => !value.includes('\u0000')), z.uuid()]),
};

interface KeysetOrder {
  /** In the database; an index has it and the id, after the columns of filters. */
  column: string;
  type: keyof typeof positions;
  descending: boolean;
}

/** The order of most lists. */
export const newestFirst = { column: 'created_at', type: 'timestamptz', descending: true, sort: '-createdAt' } as const;

/** SQL of an expression, and the type of its values. */
export type Sql<T> = string & { readonly of?: T };

/** Says what type the values of an expression are. */
export const sqlOf = <T>(sql: string): Sql<T> => sql;

type Expressions = Readonly<Record<string, Sql<unknown>>>;
type Values<A> = { [K in keyof A]: A[K] extends Sql<infer T> ? T : unknown };

interface Read<P, A extends Expressions> {
  /** What the conditions call the table. */
  alias: string;
  /** Properties that are read; all of them when absent. */
  properties?: readonly P[];
  /** SQL that is read beside them, by the name that it gets. */
  also?: A;
  limit: number;
}

interface KeysetList<P, A extends Expressions> extends KeysetOrder, Read<P, A> {
  /** The order's name, which cursors carry. */
  sort: string;
  cursor?: string | undefined;
}

/** Of each database. */
const shared = new WeakMap<Op, SharedReads<Record<string, unknown>[]>>();
const sharedBy = (op: Op): SharedReads<Record<string, unknown>[]> => {
  const known = shared.get(op) ?? new SharedReads();
  shared.set(op, known);
  return known;
};

const columnsRead = (
  metadata: EntityMetadata,
  { alias, properties, also }: Omit<Read<unknown, Expressions>, 'limit'>,
): string =>
  [
    columnsOf(metadata, alias, properties as readonly string[] | undefined),
    ...Object.entries(also ?? {}).map(([name, sql]) => `${sql} AS "${name}"`),
  ].join(', ');

/**
 * Keyset pagination on one column and the id: each page costs the same at any depth, and a row that stays is seen
 * exactly once. A cursor of another list or sort order, or one that nobody issued, is 400 `invalid_cursor`. Timestamps
 * travel as microsecond text, for a JS date would cut them to milliseconds and skip rows. A list's text is the same for
 * all pages, so that it stays prepared; but for a search, of which the planner must know whether it finds few or most. Rows may be shared with others who asked for the same page: they do not change.
 */
export const keysetPage = async <
  E extends ObjectLiteral,
  P extends keyof E = keyof E,
  A extends Expressions = Record<never, never>,
>(
  op: Op,
  entity: Newable<E>,
  conditions: Conditions,
  list: KeysetList<P, A>,
): Promise<{ rows: (Pick<E, P> & Values<A>)[]; next: string | null }> => {
  const { alias, column, type, descending, sort, limit } = list;
  const metadata = op.metadataOf(entity);
  const key = `${alias}.${column}`;
  const after = decodeCursor(list.cursor, positions[type]);
  if (after && after[0] !== sort) throw invalidCursor();
  if (after) {
    const [, value, id] = after;
    conditions.add(
      `(${key}, ${alias}.id) ${descending ? '<' : '>'} (${conditions.bind(value)}::${type}, ${conditions.bind(id)}::uuid)`,
    );
  }
  const direction = descending ? 'DESC' : 'ASC';
  const keyText = type === 'timestamptz' ? `(${key} AT TIME ZONE 'UTC')::text` : key;
  const { where, each } = conditions.ordered;
  const rest = `ORDER BY ${key} ${direction}, ${alias}.id ${direction} LIMIT ${limit + 1}`;
  const table = `"${metadata.tableName}" ${alias}`;
  const from = each
    ? `unnest(${conditions.bind(each.values)}::uuid[]) AS each(value) CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${each.column} = each.value AND ${where} ${rest}) ${alias}`
    : `${table} WHERE ${where}`;
  const plan = conditions.searched ? plannedForValues : '';
  const sql = `${plan}SELECT ${columnsRead(metadata, list)}, ${keyText} AS "keysetValue" FROM ${from} ${rest}`;
  const params = [...conditions.params];
  const read = async (): Promise<Record<string, unknown>[]> =>
    entitiesOf(metadata, await op.query<Record<string, unknown>>(sql, params));
  const found = op.inTransaction ? await read() : await sharedBy(op).of(`${sql} ${JSON.stringify(params)}`, read);
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return {
    rows: shown as (Pick<E, P> & Values<A>)[],
    next:
      found.length > shown.length && last
        ? encodeCursor([sort, positionOf(type, String(last['keysetValue'])), String(last['id'])])
        : null,
  };
};

/** As cursors have it. A time is written out by `to_char` at several times the cost, for each row and for one cursor. */
const positionOf = (type: KeysetOrder['type'], value: string): string =>
  type === 'timestamptz' ? `${value.replace(' ', 'T')}Z` : value;

/** The lengths that lists of ids come in: each is a text of its own, which stays prepared. */
const idCounts = [1, 2, 4, 8, 16, 32];
/** By what is read. */
const idTexts = new WeakMap<object, Map<number, string>>();
/** Ids that one statement reads at most. */
export const mostIds = 32;

/**
 * The rows with these ids, in any order; at most `mostIds`. A list is filled up to one of a few lengths with its last
 * id: the server plans a parameter that is an array anew for each length that it meets.
 * @param read always the same one of an entity: the statements are put together once for it
 */
export const rowsWithIds = async <
  E extends ObjectLiteral & { id: string },
  P extends keyof E = keyof E,
  A extends Expressions = Record<never, never>,
>(
  op: Op,
  entity: Newable<E>,
  ids: readonly string[],
  read: Omit<Read<P, A>, 'limit'>,
): Promise<(Pick<E, P> & Values<A>)[]> => {
  const count = idCounts.find((n) => n >= ids.length);
  if (ids.length === 0 || count === undefined) throw new Error(`${ids.length} ids are not 1 to ${mostIds}`);
  const metadata = op.metadataOf(entity);
  const texts = idTexts.get(read) ?? new Map<number, string>();
  const list = (): string => Array.from({ length: count }, (_, i) => `$${i + 1}`).join(', ');
  const sql =
    texts.get(count) ??
    `SELECT ${columnsRead(metadata, read)} FROM "${metadata.tableName}" ${read.alias} WHERE ${read.alias}.id IN (${list()})`;
  idTexts.set(read, texts.set(count, sql));
  const rows = await op.query<Record<string, unknown>>(
    sql,
    Array.from({ length: count }, (_, i) => ids[i] ?? ids.at(-1)),
  );
  return entitiesOf(metadata, rows);
};

/** The first rows that meet the conditions, in an order that an index has: for lists that make their own cursors. */
export const rowsInOrder = async <
  E extends ObjectLiteral,
  P extends keyof E = keyof E,
  A extends Expressions = Record<never, never>,
>(
  op: Op,
  entity: Newable<E>,
  conditions: Conditions,
  list: Read<P, A> & { order: string },
): Promise<(Pick<E, P> & Values<A>)[]> => {
  const metadata = op.metadataOf(entity);
  const rows = await op.query<Record<string, unknown>>(
    `SELECT ${columnsRead(metadata, list)} FROM "${metadata.tableName}" ${list.alias} WHERE ${conditions.where} ORDER BY ${list.order} LIMIT ${list.limit}`,
    [...conditions.params],
  );
  return entitiesOf(metadata, rows);
};
