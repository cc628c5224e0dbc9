import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A Markdown table of what each identity gets on each route: route → column → value. */
export type AccessTable = Map<string, Map<string, string>>;

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** Reads the table under `heading` of a page beside this file. */
export const readAccessTable = (file: string, heading: string): AccessTable => {
  const lines = readFileSync(join(__dirname, file), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.startsWith('#') && line.replace(/^#+ /, '') === heading);
  if (start < 0) throw new Error(`${file} has no heading "${heading}"`);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith('#'));
  const rows = (end < 0 ? rest : rest.slice(0, end)).filter((line) => line.startsWith('|')).map(cellsOf);
  const [columns = [], , ...body] = rows;
  return new Map(
    body.map((cells) => [
      cells[0]?.replaceAll('`', '') ?? '',
      new Map(columns.slice(1).map((column, i) => [column, cells[i + 1] ?? ''])),
    ]),
  );
};

/** What differs, one line each; a row that the table lacks is shown whole, to be judged and put there. */
export const differences = (seen: AccessTable, stated: AccessTable): string[] => {
  const found: string[] = [];
  for (const [route, cells] of seen) {
    const row = stated.get(route);
    if (!row) found.push(`no row: | \`${route}\` | ${[...cells.values()].join(' | ')} |`);
    else
      for (const [column, value] of cells)
        if (row.get(column) !== value)
          found.push(`${route}, ${column}: ${value}, the table says ${row.get(column) ?? 'nothing'}`);
  }
  for (const route of stated.keys()) if (!seen.has(route)) found.push(`${route} is in the table, and is no route`);
  return found;
};
