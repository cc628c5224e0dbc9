import pLimit from 'p-limit';

/** Runs `work` for every item, at most `limit` at a time. Rejects with the first failure after all have ended. */
export const limited = async <T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const free = pLimit(limit);
  const results = await Promise.allSettled(items.map((item) => free(() => work(item))));
  const failed = results.find((r) => r.status === 'rejected');
  if (failed) throw failed.reason;
};
