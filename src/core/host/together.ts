type Settled<T extends readonly unknown[]> = { -readonly [K in keyof T]: Awaited<T[K]> };

/**
 * Several things at once: their results, or the first one's error in the order given. Unlike `Promise.all` it waits
 * until every one has ended before it throws, so that whatever is undone then is not done again behind its back.
 */
export const together = async <const T extends readonly unknown[]>(...work: T): Promise<Settled<T>> => {
  const ended = await Promise.allSettled(work);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as Settled<T>;
};
