import { sqlState } from './sql-state';

type Results<T extends readonly unknown[]> = { -readonly [K in keyof T]: Awaited<T[K]> };

/** What every later statement of a transaction gets once one has failed. */
const afterFailure = '25P02';

/**
 * Work of one transaction that is asked for together, so that its statements leave in one write: the results, or the
 * first error in the order given. Never one that another's failed statement caused. Throws when all have ended, for
 * nothing may be asked of a transaction that is being rolled back.
 */
export const atOnce = async <const T extends readonly unknown[]>(...work: T): Promise<Results<T>> => {
  const ended = await Promise.allSettled(work);
  const errors = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  if (errors.length > 0) throw errors.find((error) => sqlState(error) !== afterFailure) ?? errors[0];
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as Results<T>;
};
