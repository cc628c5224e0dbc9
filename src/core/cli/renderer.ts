import Table from 'cli-table3';
import { stringify } from 'yaml';
import type { CliColumn } from './cli-context';
import { formatBytes, formatTime, plain } from './format';
import type { OutputFormat } from './output-format';

const noBorders = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'].map((part) => [part, '']),
);
const gap = { ...noBorders, middle: '   ' };
const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };

/** Rows as text: a table, JSON, YAML or the names alone. Ends with a line break unless it is empty. */
export const renderRows = <T extends object>(rows: T[], columns: CliColumn<T>[], format: OutputFormat): string => {
  if (format === 'json') return `${JSON.stringify(rows, null, 2)}\n`;
  if (format === 'yaml') return stringify(rows);
  if (format === 'name') return rows.map((row) => `${nameOf(row)}\n`).join('');
  if (rows.length === 0) return '';
  const shown = columns.filter((column) => format === 'wide' || !column.wide);
  return lines([shown.map((c) => c.header.toUpperCase()), ...rows.map((row) => shown.map((c) => plain(c.value(row)) || '-'))]);
};

/** One object as text: a line per member, JSON, YAML or its name. */
export const renderOne = (object: object, format: OutputFormat): string => {
  if (format === 'json') return `${JSON.stringify(object, null, 2)}\n`;
  if (format === 'yaml') return stringify(object);
  if (format === 'name') return `${nameOf(object)}\n`;
  return lines(membersOf(object, ''));
};

const nameOf = (row: object): string => {
  const { name, userName, id } = row as { name?: unknown; userName?: unknown; id?: unknown };
  return plain(String(name ?? userName ?? id ?? ''));
};

const lines = (cells: string[][]): string => {
  if (cells.length === 0) return '';
  const table = new Table({ chars: gap, style });
  table.push(...cells);
  return `${table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`;
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members in order, those of nested objects under `parent.member`, list entries under `parent.0`. */
const membersOf = (object: object, prefix: string): string[][] =>
  Object.entries(object).flatMap(([key, value]: [string, unknown]): string[][] => {
    const path = `${prefix}${key}`;
    if (isRecord(value)) return membersOf(value, `${path}.`);
    if (Array.isArray(value) && value.some(isRecord)) return value.flatMap((entry: unknown, i) => (isRecord(entry) ? membersOf(entry, `${path}.${i}.`) : [[`${path}.${i}`, scalar(key, entry)]]));
    return [[plain(path), Array.isArray(value) ? value.map((v: unknown) => scalar(key, v)).join(', ') || '-' : scalar(key, value)]];
  });

const scalar = (key: string, value: unknown): string => {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'number' && /bytes/i.test(key)) return formatBytes(value);
  if (typeof value === 'string' && /(At|since)$/.test(key)) return `${plain(value)} (${formatTime(value)})`;
  return plain(String(value));
};
