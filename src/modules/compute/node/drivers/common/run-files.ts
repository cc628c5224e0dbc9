import { mkdirSync, readdirSync, unlinkSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { together } from '../../../../../core/host/together';

const namesIn = (path: string): ReadonlySet<string> | null => {
  try {
    return new Set(readdirSync(path));
  } catch {
    return null;
  }
};

/** The files of one start: what was there before stays at a failure, what came since goes. */
export class RunFiles {
  private constructor(private readonly directories: readonly { path: string; before: ReadonlySet<string> | null }[]) {}

  /**
   * Makes the folders (0700) and remembers what they hold. They are small ones of the agent's own state: done at once,
   * it takes less than the way through the thread pool.
   */
  static prepare(...paths: string[]): RunFiles {
    // One may lie in another: all are looked at before any is made.
    const directories = paths.map((path) => ({ path, before: namesIn(path) }));
    for (const path of paths) mkdirSync(path, { recursive: true, mode: 0o700 });
    return new RunFiles(directories);
  }

  /** Removes every file and folder that was not there at `prepare`. */
  async rollback(): Promise<void> {
    for (const { path, before } of this.directories) {
      for (const name of await readdir(path).catch(() => [])) {
        if (!before?.has(name)) await rm(join(path, name), { force: true, recursive: true });
      }
      if (before === null) await rmdir(path).catch(() => undefined);
    }
  }
}

/** Removes sockets and other files of a VM that is gone, whatever it may have put in their place. */
export const unlinkAll = async (directory: string, names: readonly string[]): Promise<void> => {
  await together(
    ...names.map(async (name) => {
      const path = join(directory, name);
      try {
        unlinkSync(path);
      } catch (error) {
        // A folder, say.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') await rm(path, { force: true, recursive: true });
      }
    }),
  );
};
