import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { together } from '../../../../../core/host/together';

/** The files of one start: what was there before stays at a failure, what came since goes. */
export class RunFiles {
  private constructor(private readonly directories: readonly { path: string; before: ReadonlySet<string> | null }[]) {}

  /** Makes the folders (0700) and remembers what they hold. */
  static async prepare(...paths: string[]): Promise<RunFiles> {
    // One may lie in another: all are looked at before any is made.
    const directories = await Promise.all(
      paths.map(async (path) => ({
        path,
        before: await readdir(path).then(
          (names) => new Set(names),
          () => null,
        ),
      })),
    );
    await together(...paths.map((path) => mkdir(path, { recursive: true, mode: 0o700 })));
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
  await together(...names.map((name) => rm(join(directory, name), { force: true, recursive: true })));
};
