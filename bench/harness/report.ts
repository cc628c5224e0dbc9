import Table from 'cli-table3';
import type { Row } from './figure';

const digits = (value: number): number => {
  if (!Number.isFinite(value)) return 0;
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
  return Number(text);
};

/** Ours over the reference. */
const ratio = (row: Row): number => digits(row.ours / row.reference);

/** An array of {figure, ours, reference, ratio, unit}. */
export const asJson = (rows: readonly Row[]): string =>
  `${JSON.stringify(
    rows.map((row) => ({
      figure: row.figure,
      ours: digits(row.ours),
      reference: digits(row.reference),
      ratio: ratio(row),
      unit: row.unit,
    })),
    null,
    2,
  )}\n`;

export const asTable = (rows: readonly Row[]): string => {
  const table = new Table({
    head: ['figure', 'ours', 'reference', 'ratio', 'unit', 'what it means'],
    colAligns: ['left', 'right', 'right', 'right', 'left', 'left'],
    colWidths: [44, null, null, null, null, 70],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const row of rows)
    table.push([
      row.figure,
      String(digits(row.ours)),
      String(digits(row.reference)),
      String(ratio(row)),
      row.unit,
      row.note,
    ]);
  return `${table.toString()}\n`;
};
