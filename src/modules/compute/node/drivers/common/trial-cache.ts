import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';

/** Whether a trial guest booted, and if not, why. */
export const trial = z.object({ works: z.boolean(), reason: z.string() });
export type Trial = z.output<typeof trial>;

/**
 * After so many milliseconds a failed trial is made again; the last for all further ones. A host that was starved once
 * may work, and one that never does is not asked for ever.
 */
const pauses = [60_000, 300_000, 900_000, 3_600_000] as const;

const pauseAfter = (failures: number): number => pauses[Math.min(failures, pauses.length) - 1] ?? 0;

/**
 * The outcome of `run`, remembered in `file` for as long as `key` is the same: booting a guest at each start of the
 * agent would take seconds. A failure is only remembered until its pause is over, by the clock of `now`.
 */
export const cachedTrial = async <T extends Trial>(
  file: string,
  key: string,
  outcome: z.ZodType<T>,
  run: () => Promise<T>,
  now: () => number = Date.now,
): Promise<T> => {
  const cache = z.object({ key: z.string(), outcome, failures: z.number().int(), at: z.number() });
  let failures = 0;
  try {
    const known = cache.safeParse(JSON.parse(await readFile(file, 'utf8')));
    if (known.success && known.data.key === key) {
      if (known.data.outcome.works) return known.data.outcome;
      failures = known.data.failures;
      const since = now() - known.data.at;
      // A clock that was set back tells nothing.
      if (since >= 0 && since < pauseAfter(failures)) return known.data.outcome;
    }
  } catch {
    // No cache yet, or a broken one: the trial is made.
  }
  const result = await run();
  await mkdir(dirname(file), { recursive: true });
  await writeFileAtomic(
    file,
    JSON.stringify({ key, outcome: result, failures: result.works ? 0 : failures + 1, at: now() } satisfies z.input<
      typeof cache
    >),
  );
  return result;
};

/** The next trial is made, whatever came of the last. */
export const forgetTrial = (file: string): Promise<void> => rm(file, { force: true });
