/** The value below which `share` (0 to 1) of the samples lie, by the nearest rank; 0 of none. */
export const percentile = (samples: readonly number[], share: number): number => {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? 0;
};

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);

/** How long `work` took, in milliseconds. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** Runs `work` for 0 to `count - 1`, at most `lanes` at a time. */
export const inLanes = async (count: number, lanes: number, work: (index: number) => Promise<void>): Promise<void> => {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(lanes, count) }, async () => {
      while (next < count) await work(next++);
    }),
  );
};
