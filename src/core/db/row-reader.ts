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
/** As a server gives it that counts in UTC: `2026-11-29 04:06:57.123456+00`, with as much of the fraction as is needed. */
const utc = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?\+00$/;

/** A time after 1970 in UTC without the general parser, which takes several times as long; all others with it. */
const readTime = (general: Parser): Parser => {
  return (text) => {
    const parts = utc.exec(text);
    if (!parts || text < '1970') return general(text);
    const [, year, month, day, hour, minute, second, fraction = ''] = parts;
    return new Date(
      Date.UTC(
        Number(year),
        Number(month) - 1,
        Number(day),
        Number(hour),
        Number(minute),
        Number(second),
        Number(fraction.slice(0, 3).padEnd(3, '0')),
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
