import { setTimeout as pause } from 'node:timers/promises';
import { nameOf } from './renderer';

const everyMs = 2_000;

export interface WatchOutput<T> {
  /** Rows as a table; undefined where programs read, which get a line of JSON per change. */
  text: ((rows: T[], headers: boolean) => string) | undefined;
  /** A terminal, whose screen is drawn anew. */
  live: boolean;
  write: (text: string) => void;
}

const keyOf = (row: object): string => String((row as { id?: unknown }).id ?? nameOf(row));

/** One look: what changed since the last one. On a terminal the whole list. */
export const lookAtRows = <T extends object>(
  rows: T[],
  seen: Map<string, { sign: string; row: T }>,
  first: boolean,
  output: WatchOutput<T>,
): void => {
  const now = new Map(rows.map((row) => [keyOf(row), row]));
  const changed = rows.filter((row) => seen.get(keyOf(row))?.sign !== JSON.stringify(row));
  const gone = [...seen].filter(([key]) => !now.has(key));
  if (output.live && output.text) {
    if (first || changed.length > 0 || gone.length > 0)
      output.write(`\u001b[H\u001b[2J${output.text(rows, true) || 'Nothing found.\n'}`);
  } else if (output.text) {
    if (first || changed.length > 0) output.write(output.text(changed, first));
    for (const [, { row }] of gone) output.write(`${nameOf(row)}: gone\n`);
  } else {
    for (const row of changed)
      output.write(`${JSON.stringify({ change: seen.has(keyOf(row)) ? 'changed' : 'added', object: row })}\n`);
    for (const [, { row }] of gone) output.write(`${JSON.stringify({ change: 'removed', object: row })}\n`);
  }
  for (const [key] of gone) seen.delete(key);
  for (const row of changed) seen.set(keyOf(row), { sign: JSON.stringify(row), row });
};

/** Shows rows and each change of them until the process is ended or a look fails. */
export const watchRows = async <T extends object>(
  fetch: () => Promise<T[]>,
  output: WatchOutput<T>,
): Promise<never> => {
  const seen = new Map<string, { sign: string; row: T }>();
  for (let first = true; ; first = false) {
    lookAtRows(await fetch(), seen, first, output);
    await pause(everyMs);
  }
};
