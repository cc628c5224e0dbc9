/**
 * SQL expressions of what a list's `q` is compared with. Each must have an index that fits, made by the migration of
 * list search.
 */
export interface SearchedColumns {
  /** Of type uuid: found by the beginning. Index: b-tree. */
  ids: readonly string[];
  /** Found by any part, upper and lower case alike. Index: GIN of trigrams. */
  texts?: readonly string[];
  /** Of type inet: found by the beginning as text. Index: b-tree on `(host(column) COLLATE "C")`. */
  addresses?: readonly string[];
  /** Of type macaddr: found by the beginning. Index: b-tree. */
  macs?: readonly string[];
}

/** Adds a parameter to a statement and returns its placeholder. */
type Bind = (value: unknown) => string;

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Fewer characters would find ids by chance while one types a name. */
const shortestId = 4;
const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Names with few matches are found by their trigrams, which one or two characters do not have: those are looked for
 * where a word begins.
 */
const short = /^[a-z0-9]{1,2}$/i;
/** An address that has begun: a whole first part, and its separator. */
const address = /^(\d{1,3}\.[\d.]*|[0-9a-f]{0,4}:[0-9a-f:.]*)$/;
const mac = /^[0-9a-f]{2}(:[0-9a-f]{2}){0,4}(:[0-9a-f]{0,2})$/;

/**
 * Numbers in the names of many, which share all else. The index looks for each of them and for the whole at once: for
 * the whole alone, most of which most rows have, it takes ten times as long; and a number alone may be what all end
 * with. Measured with 1,000,000 names, also that the column stands bare in each part: only of that the planner knows
 * how many rows match.
 */
const numbers = /[^a-z0-9]?\d{4,}/gi;
/** More parts make the search of the index no shorter. */
const mostNumbers = 4;

/** The bounds of all ids that begin so; undefined when none can. */
const idRange = (q: string): [string, string] | undefined => {
  const given = q.toLowerCase();
  if (
    given.length < shortestId ||
    given.length > firstId.length ||
    !idPattern.test(given + firstId.slice(given.length))
  )
    return undefined;
  const rest = firstId.slice(given.length);
  return [given + rest, given + rest.replaceAll('0', 'f')];
};

const macRange = (q: string): [string, string] | undefined => {
  const given = q.toLowerCase();
  if (!mac.test(given)) return undefined;
  const rest = '00:00:00:00:00:00'.slice(given.length);
  return [given + rest, given + rest.replaceAll('0', 'f')];
};

/** The text and, beyond ASCII, its other cases: a database with locale C knows these only in ASCII. */
const spellings = (q: string): string[] =>
  /^[\x20-\x7e]*$/.test(q) ? [q] : [...new Set([q, q.toLowerCase(), q.toUpperCase()])];

const textCondition = (column: string, q: string, bind: Bind): string => {
  if (short.test(q))
    return ['', '% ', '%-', '%.', '%\\_'].map((before) => `${column} ILIKE ${bind(`${before}${q}%`)}`).join(' OR ');
  const anywhere = (text: string): string => bind(`%${text.replace(/[\\%_]/g, '\\$&')}%`);
  const parts = [...q.matchAll(numbers)].map(([number]) => number).filter((number) => number !== q);
  const first = [...new Set(parts)].slice(0, mostNumbers).map((number) => `${column} ILIKE ${anywhere(number)} AND `);
  return spellings(q)
    .map((text) => `(${first.join('')}${column} ILIKE ${anywhere(text)})`)
    .join(' OR ');
};

/** True when `q` can be the beginning of an address. */
export const looksLikeAddress = (q: string): boolean => address.test(q.toLowerCase()) || mac.test(q.toLowerCase());

/**
 * The condition that a row is what `q` looks for: part of a text, or the beginning of an id, an address or a MAC. With
 * one or two letters or digits a text matches where one of its words begins with them. Every part of it is found by an
 * index, so that the cost does not grow with the table.
 */
export const searchCondition = (q: string, columns: SearchedColumns, bind: Bind): string => {
  const found: string[] = [];
  const between = (column: string, range: [string, string] | undefined, type: string): void => {
    if (range)
      found.push(`${column} BETWEEN CAST(${bind(range[0])} AS ${type}) AND CAST(${bind(range[1])} AS ${type})`);
  };
  for (const column of columns.texts ?? []) found.push(textCondition(column, q, bind));
  for (const column of columns.ids) between(column, idRange(q), 'uuid');
  for (const column of columns.macs ?? []) between(column, macRange(q), 'macaddr');
  // `~` is greater than every character of an address.
  if (address.test(q.toLowerCase()))
    for (const column of columns.addresses ?? [])
      found.push(
        `(host(${column}) COLLATE "C" >= ${bind(q.toLowerCase())} AND host(${column}) COLLATE "C" < ${bind(`${q.toLowerCase()}~`)})`,
      );
  return found.length === 0 ? 'false' : `(${found.join(' OR ')})`;
};
