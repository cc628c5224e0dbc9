interface Counts {
  passed: number;
  failed: { name: string; message: string }[];
  skipped: string[];
}

declare const summary: {
  /** @param lines what the progress reporter wrote */
  countRun(lines: readonly unknown[], why: string): Counts;
};
export = summary;
