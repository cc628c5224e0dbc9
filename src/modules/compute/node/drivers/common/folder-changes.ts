import { watch, type FSWatcher } from 'node:fs';

/**
 * Tells of changes in a folder, such as a socket that a VMM makes there: whoever waits for it need not look again and
 * again. Where the kernel gives no more watches, waits end by their time alone.
 */
export class FolderChanges {
  private readonly watcher: FSWatcher | null;
  private changed = false;
  private wake: () => void = () => undefined;

  constructor(folder: string) {
    this.watcher = this.begin(folder);
  }

  /** Resolves with the next change, at once when there was one since the last call; after `ms` in any case. */
  async next(ms: number): Promise<void> {
    if (!this.changed)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.changed = false;
  }

  close(): void {
    this.watcher?.close();
  }

  private begin(folder: string): FSWatcher | null {
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        this.changed = true;
        this.wake();
      });
      watcher.on('error', () => undefined);
      return watcher;
    } catch {
      return null;
    }
  }
}
