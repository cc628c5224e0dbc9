import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';

/** Whether a trial guest booted, and if not, why. */
export interface Trial {
  works: boolean;
  reason: string;
}

const cacheSchema = z.object({ key: z.string(), works: z.boolean(), reason: z.string() });

/** The outcome of `run`, remembered in `file` for as long as `key` is the same: booting a guest at each start of the agent would take seconds. */
export const cachedTrial = async (file: string, key: string, run: () => Promise<Trial>): Promise<Trial> => {
  try {
    const known = cacheSchema.safeParse(JSON.parse(await readFile(file, 'utf8')));
    if (known.success && known.data.key === key) return { works: known.data.works, reason: known.data.reason };
  } catch {
    // No cache yet, or a broken one: the trial is made.
  }
  const trial = await run();
  await mkdir(dirname(file), { recursive: true });
  await writeFileAtomic(file, JSON.stringify({ key, ...trial }));
  return trial;
};
