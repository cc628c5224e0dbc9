import type { Command } from 'commander';
import { suggest } from '../../config/suggest';
import type { CliColumn } from '../output/cli-column';
import { usageFailure } from '../cli-failure';
import { parseSize } from './parse-size';

/** What every list takes. */
export interface ListOptions {
  sort?: string;
  filter?: string[];
  columns?: string;
  /** False with `--no-headers`. */
  headers?: boolean;
  watch?: boolean;
}

type Raw = string | number | boolean | null | undefined;

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

/** Adds the options that every list takes. */
export const addListOptions = (command: Command): Command =>
  command
    .option(
      '--filter <text|column=value>',
      'only those with the text in name, id or address, or whose column fits (=, !=, <, >, * for anything); may be repeated',
      collect,
    )
    .option('--sort <column>', 'order by this column; -column for the other way round')
    .option('--columns <column,...>', 'show these columns, in this order')
    .option('--no-headers', 'without the line of headers')
    .option('--watch', 'go on and show each change, until interrupted');

const byPath = (row: object, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (at, key) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, key)
          ? (at as Record<string, unknown>)[key]
          : undefined,
      row,
    );

const memberText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value as Raw);

const same = (one: string, other: string): boolean =>
  one.toLowerCase().replace(/[\s_-]/g, '') === other.toLowerCase().replace(/[\s_-]/g, '');

/**
 * The column of that header; else one of the member at that path (`flavor.vcpus`), as `-o json` shows it. A name that
 * is neither a header nor a member of any row is a mistake of the user's.
 */
const columnOf = <T extends object>(name: string, option: string, columns: CliColumn<T>[], rows: T[]): CliColumn<T> => {
  const named = columns.find((column) => same(column.header, name));
  if (named) return named;
  if (rows.some((row) => byPath(row, name) !== undefined))
    return { header: name, value: (row) => memberText(byPath(row, name)), raw: (row) => rawMember(byPath(row, name)) };
  const headers = columns.map((c) => c.header.replaceAll(' ', '-'));
  // Nothing to find it in: a list that is empty now may have it later.
  if (rows.length === 0 && name.includes('.')) return { header: name, value: () => '' };
  const meant = suggest(name, headers);
  throw usageFailure(
    `${option}: there is no column "${name}"${meant ? `; did you mean ${meant}?` : '.'} There are ${headers.join(', ')}.`,
  );
};

const rawMember = (value: unknown): Raw =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : memberText(value);
const rawOf = <T>(column: CliColumn<T>, row: T): Raw => (column.raw ? column.raw(row) : column.value(row));

const compare = (one: Raw, other: Raw): number => {
  const none = (value: Raw): boolean => value === null || value === undefined || value === '';
  if (none(one) || none(other)) return Number(none(one)) - Number(none(other));
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one).localeCompare(String(other), 'en', { numeric: true });
};

const wildcard = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
    'isu',
  );

const sizeOr = (text: string): number => {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  try {
    return parseSize(text);
  } catch {
    return Number.NaN;
  }
};

const expressionPattern = /^([A-Za-z][\w. -]*?)(!=|=|<|>)(.*)$/su;
/** As long a text as the server searches for. */
const longestSearch = 100;

/** The filter that the server applies by itself: the first that is a text and no comparison. */
export const searchOf = (options: ListOptions): { q?: string } => {
  const text = (options.filter ?? []).find(
    (expression) => !expressionPattern.test(expression) && expression.length <= longestSearch,
  );
  return text === undefined ? {} : { q: text };
};

/** The test that one `--filter` means. */
const testOf = <T extends object>(expression: string, columns: CliColumn<T>[], rows: T[]): ((row: T) => boolean) => {
  const match = expressionPattern.exec(expression);
  if (!match) {
    const wanted = expression.toLowerCase();
    return (row) => columns.some((column) => column.value(row).toLowerCase().includes(wanted));
  }
  const [, name = '', operator, value = ''] = match;
  const column = columnOf(name, '--filter', columns, rows);
  if (operator === '<' || operator === '>') {
    const number = sizeOr(value);
    return (row) => {
      const raw = rawOf(column, row);
      if (raw === null || raw === undefined || raw === '') return false;
      const order = typeof raw === 'number' && !Number.isNaN(number) ? raw - number : compare(raw, value);
      return operator === '<' ? order < 0 : order > 0;
    };
  }
  const pattern = wildcard(value);
  const fits = (row: T): boolean =>
    pattern.test(column.value(row)) ||
    pattern.test(String(rawOf(column, row) ?? '')) ||
    (/^\d/.test(value) && typeof rawOf(column, row) === 'number' && rawOf(column, row) === sizeOr(value));
  return operator === '=' ? fits : (row) => !fits(row);
};

/** The rows that the options leave, in their order. Throws a usage failure for a column that is not there. */
export const shapeRows = <T extends object>(rows: T[], columns: CliColumn<T>[], options: ListOptions): T[] => {
  const tests = (options.filter ?? []).map((expression) => testOf(expression, columns, rows));
  const left = rows.filter((row) => tests.every((test) => test(row)));
  if (options.sort === undefined) return left;
  const down = options.sort.startsWith('-');
  const column = columnOf(down ? options.sort.slice(1) : options.sort, '--sort', columns, rows);
  return [...left].sort((a, b) => compare(rawOf(column, a), rawOf(column, b)) * (down ? -1 : 1));
};

/** The columns to show. `all` in their order, or those that `--columns` names. */
export const pickColumns = <T extends object>(
  rows: T[],
  columns: CliColumn<T>[],
  options: ListOptions,
  wide: boolean,
): CliColumn<T>[] => {
  if (options.columns === undefined) return columns.filter((column) => wide || !column.wide);
  const names = options.columns
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw usageFailure('--columns: names no column');
  return names.map((name) => columnOf(name, '--columns', columns, rows));
};
