import Table from 'cli-table3';
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import type { Tone } from './cli-column';

const noBorders = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
  ].map((part) => [part, '']),
);
/** Blanks between two columns, and where it gets narrow. */
const wideGap = 3;
const tightGap = 2;
const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] };
/** A column is not cut below this many characters. */
const narrowest = 6;
const colours = { good: 'green', busy: 'yellow', bad: 'red' } as const;

export interface Cell {
  text: string;
  tone?: Tone;
}

export interface Fit {
  /** Characters of a line; undefined: as wide as it gets. */
  width?: number | undefined;
  colour: boolean;
}

/** The text in its tone's colour. */
export const toned = (text: string, tone: Tone, colour: boolean): string =>
  colour && tone ? styleText(colours[tone], text, { validateStream: false }) : text;

const sum = (numbers: number[]): number => numbers.reduce((total, n) => total + n, 0);
const gaps = (count: number, gap: number): number => gap * Math.max(0, count - 1);

/** How many columns a line of `width` characters can hold, each cut as far as it may be. At least one. */
export const fittingCount = (natural: number[], whole: boolean[], width: number | undefined): number => {
  if (width === undefined) return natural.length;
  const least = natural.map((n, i) => (whole[i] ? n : Math.min(n, narrowest)));
  let count = natural.length;
  while (count > 1 && sum(least.slice(0, count)) + gaps(count, tightGap) > width) count -= 1;
  return count;
};

/**
 * Widths of the columns so that a line has at most `width` characters: the widest gives first, those that must stay
 * whole never do.
 */
const fitWidths = (
  natural: number[],
  whole: boolean[],
  width: number | undefined,
): { widths: number[]; gap: number } => {
  const widths = [...natural];
  if (width === undefined || sum(widths) + gaps(widths.length, wideGap) <= width) return { widths, gap: wideGap };
  const room = width - gaps(widths.length, tightGap);
  while (sum(widths) > room) {
    let widest = -1;
    widths.forEach((w, i) => {
      if (whole[i] !== true && w > narrowest && (widest < 0 || w > (widths[widest] ?? 0))) widest = i;
    });
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return { widths, gap: tightGap };
};

/** Width of each column's widest cell. */
export const naturalWidths = (rows: Cell[][]): number[] =>
  (rows[0] ?? []).map((_, i) => Math.max(1, ...rows.map((row) => stringWidth(row[i]?.text ?? ''))));

/**
 * Aligned columns without borders. Every row has as many cells as the first. Ends with a line break unless it is empty.
 */
export const tableText = (rows: Cell[][], whole: boolean[], fit: Fit): string => {
  const count = rows[0]?.length ?? 0;
  if (count === 0) return '';
  const { widths, gap } = fitWidths(naturalWidths(rows), whole, fit.width);
  const table = new Table({ chars: { ...noBorders, middle: ' '.repeat(gap) }, style, colWidths: widths });
  table.push(...rows.map((row) => row.map((cell) => toned(cell.text, cell.tone, fit.colour))));
  return `${table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`;
};
