import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { isRunning, processStartTime } from '../../../../../core/host/processes/process-identity';
import { endProcessesNaming } from '../../../../../core/host/processes/processes-naming';

const folderPrefix = 'vc-stack-probe-';
/** What it names is removed with all that it holds: only a folder as these are called. */
const note = z.object({
  directory: z.string().regex(new RegExp(`^/([^/]+/)*${folderPrefix}[0-9a-f-]{36}$`)),
  by: z.object({ pid: z.number().int(), startTime: z.string() }),
});
const notePrefix = 'trial-';

/**
 * Runs one trial with a new folder of its own, which goes afterwards. Its place is noted in `cacheDir` before there is
 * anything in it, so that what an agent leaves that dies in the midst of a trial (a VMM, files) is found by
 * `clearTrials`. Sockets need a short path: the folder lies among the temporary ones.
 */
export const inTrialPlace = async <T>(cacheDir: string, run: (directory: string) => Promise<T>): Promise<T> => {
  const id = randomUUID();
  const directory = join(tmpdir(), `${folderPrefix}${id}`);
  const file = join(cacheDir, `${notePrefix}${id}.json`);
  await mkdir(cacheDir, { recursive: true });
  await writeFileAtomic(
    file,
    JSON.stringify({
      directory,
      by: { pid: process.pid, startTime: processStartTime(process.pid) ?? '' },
    } satisfies z.input<typeof note>),
  );
  await mkdir(directory, { mode: 0o700 });
  try {
    return await run(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await rm(file, { force: true });
  }
};

/** Null for a note that a full or broken disk left: it says nothing, and must not keep a host from its probe. */
const parse = (text: string): z.output<typeof note> | null => {
  try {
    return note.parse(JSON.parse(text));
  } catch {
    return null;
  }
};

/**
 * Ends and removes what is left of trials whose agent died meanwhile. What does not end is left to the next time: no
 * probe fails for it.
 */
export const clearTrials = async (cacheDir: string): Promise<void> => {
  for (const name of (await readdir(cacheDir).catch(() => [])).filter((one) => one.startsWith(notePrefix))) {
    const file = join(cacheDir, name);
    const text = await readFile(file, 'utf8').catch(() => null);
    // Over by now.
    if (text === null) continue;
    const noted = parse(text);
    if (noted === null) {
      await rm(file, { force: true });
      continue;
    }
    const { directory, by } = noted;
    if (isRunning(by)) continue;
    const ended = await endProcessesNaming(directory).then(
      () => true,
      () => false,
    );
    if (!ended) continue;
    await rm(directory, { recursive: true, force: true });
    await rm(file, { force: true });
  }
};
