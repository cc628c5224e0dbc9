import { types } from 'pg';

/** What the server says of a column, as far as it is used here. */
export interface FieldDescription {
  name: string;
  dataTypeID: number;
}

export type Row = Record<string, unknown>;
/** Makes a row of the texts of its columns. */
export type RowReader = (texts: readonly (string | null)[]) => Row;
type Parser = (text: string) => unknown;

const timestamptz = 1184;
/** The number that two digits are. */
const two = (text: string, at: number): number => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;

/**
 * A time of a server that counts in UTC, e.g. `2026-11-29 04:06:57.123456+00`, without the general parser, which takes
 * several times as long. Everything else (other zones, before 1970, beyond 9999) with it.
 */
const readTime = (general: Parser): Parser => {
  return (text) => {
    const fraction = text.length - 23;
    if (text[4] !== '-' || text[10] !== ' ' || !text.endsWith('+00') || fraction > 6 || text < '1970')
      return general(text);
    // Cut off after three digits: a date holds milliseconds.
    const ms = fraction <= 0 ? 0 : Number(text.slice(20, Math.min(23, 20 + fraction)).padEnd(3, '0'));
    return new Date(
      Date.UTC(
        two(text, 0) * 100 + two(text, 2),
        two(text, 5) - 1,
        two(text, 8),
        two(text, 11),
        two(text, 14),
        two(text, 17),
        ms,
      ),
    );
  };
};

const parserOf = (type: number): Parser => {
  const general = types.getTypeParser(type, 'text') as Parser;
  return type === timestamptz ? readTime(general) : general;
};

const readers = new Map<string, RowReader>();
/** Kinds of rows that are kept, per process: as many as there are prepared statements. */
const maxReaders = 500;

/**
 * The reader of such rows, which are made in one piece: a row that is filled member by member costs several times as
 * much, also whoever reads it then.
 */
export const rowReader = (fields: readonly FieldDescription[]): RowReader => {
  const key = JSON.stringify(fields.map(({ name, dataTypeID }) => [name, dataTypeID]));
  const known = readers.get(key);
  if (known) return known;
  // Of several columns of a name the last one counts.
  const columns = new Map(fields.map(({ name, dataTypeID }, at) => [name, { at, dataTypeID }]));
  const parsers = fields.map(({ dataTypeID }) => parserOf(dataTypeID));
  const members = [...columns].map(([name, { at }]) => {
    const member = name === '__proto__' ? '["__proto__"]' : JSON.stringify(name);
    return `${member}: texts[${at}] === null ? null : parsers[${at}](texts[${at}])`;
  });
  // Names come from our own statements, and are quoted.
  const made = new Function('parsers', `"use strict";\nreturn (texts) => ({ ${members.join(',\n')} });`) as (
    parsers: readonly Parser[],
  ) => RowReader;
  const reader = made(parsers);
  if (readers.size < maxReaders) readers.set(key, reader);
  return reader;
};
