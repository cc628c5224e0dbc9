import type { Lab } from './lab';

/** One line of the result. */
export interface Row {
  figure: string;
  ours: number;
  /** Measured in the same run, on the same machine. */
  reference: number;
  unit: string;
  /** What the two numbers mean and what is aimed at. Printed, never asserted. */
  note: string;
}

export interface Figure {
  /** What `--only` is matched against, besides the rows' names. */
  name: string;
  /** It is given up after so many minutes. */
  limitMinutes: number;
  run(lab: Lab): Promise<Row[]>;
}
