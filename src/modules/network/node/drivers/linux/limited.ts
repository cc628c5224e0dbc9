/** Runs `work` for every item, at most `limit` at a time. Rejects with the first failure after all have ended. */
export const limited = async <T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  const results = await Promise.allSettled(Array.from({ length: Math.min(limit, queue.length) }, worker));
  const failed = results.find((r) => r.status === 'rejected');
  if (failed) throw failed.reason;
};
