import { stringify } from 'yaml';
import type { CliColumn } from './cli-column';
import { plain } from './format';
import { pickColumns, type ListOptions } from '../input/list-options';
import type { OutputFormat } from './output-format';
import { fittingCount, naturalWidths, tableText, type Fit } from './table';

/** An object or a list of them for programs. `find` is loaded by those alone who ask for a path. */
export const renderData = (
  value: object,
  format: OutputFormat,
  find?: (value: object, expression: string) => string,
): string => {
  if (format.kind === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  if (format.kind === 'yaml') return stringify(value);
  if (format.kind === 'name')
    return (Array.isArray(value) ? value : [value]).map((row: object) => `${nameOf(row)}\n`).join('');
  if (!find) throw new Error('the search by path is not loaded');
  return find(value, format.expression ?? '$');
};

export interface RenderedTable {
  /** Empty when there are no rows. */
  text: string;
  /** Headers of the columns that the terminal has no room for. */
  leftOut: string[];
}

/**
 * Rows as an aligned table, in the width of the terminal: long cells are cut, and what does not fit even so is left out
 * and named.
 */
export const renderTable = <T extends object>(
  rows: T[],
  columns: CliColumn<T>[],
  format: OutputFormat,
  options: ListOptions,
  fit: Fit,
): RenderedTable => {
  const shown = pickColumns(rows, columns, options, format.kind === 'wide');
  if (rows.length === 0) return { text: '', leftOut: [] };
  // A state that is cut is no state.
  const whole = shown.map((c) => c.whole === true || c.tone !== undefined);
  const headers = options.headers === false ? [] : [shown.map((c) => ({ text: c.header.toUpperCase() }))];
  const cells = [
    ...headers,
    ...rows.map((row) => shown.map((c) => ({ text: plain(c.value(row)) || '-', tone: c.tone?.(row) }))),
  ];
  const count = fittingCount(naturalWidths(cells), whole, fit.width);
  return {
    text: tableText(
      cells.map((row) => row.slice(0, count)),
      whole,
      fit,
    ),
    leftOut: shown.slice(count).map((c) => c.header),
  };
};

/** What a form that shows names shows of an object. */
export const nameOf = (row: object): string => {
  const { name, userName, id, instance } = row as {
    name?: unknown;
    userName?: unknown;
    id?: unknown;
    instance?: { name?: unknown };
  };
  return plain(String(name ?? userName ?? instance?.name ?? id ?? ''));
};
