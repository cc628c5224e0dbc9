import { setTimeout as delay } from 'node:timers/promises';

/** Polls until `probe` gives something; for what has no event to wait for. Fails with `what` after `timeoutMs`. */
export const eventually = async <T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 30_000,
): Promise<T> => {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`not within ${timeoutMs / 1000} s: ${what}`);
    await delay(100);
  }
};
