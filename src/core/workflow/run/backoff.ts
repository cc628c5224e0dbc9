import type { RetryPolicy } from '../definition/definition';
import { parseDuration } from '../definition/duration';

/**
 * Milliseconds to wait after the failed attempt number `attempt` (from 1): doubles each time up to the policy's longest
 * wait, of which a random part between a half and the whole is taken, so that tasks that failed together do not come
 * back together.
 */
export const backoffMs = (
  policy: RetryPolicy | undefined,
  attempt: number,
  random: () => number = Math.random,
): number => {
  const first = parseDuration(policy?.backoff ?? '200ms');
  const longest = parseDuration(policy?.maxBackoff ?? '15s');
  const full = Math.min(longest, first * 2 ** Math.min(attempt - 1, 30));
  return Math.max(1, Math.round(full * (0.5 + 0.5 * random())));
};
