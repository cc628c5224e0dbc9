import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { together } from '../../../../../core/host/together';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { VmHandle } from '../vmm-driver';

/** In the log folder. */
const folderName = 'suspended';
/** Written last: what lies beside it is whole. */
const completeMark = 'complete';
/** Bytes beside the guest's memory: its devices, and the format's own. */
const slackBytes = 256 * 1024 * 1024;

/**
 * What a suspended machine goes on from. The folder is there from the VMM's start on, for its sandbox is made then, and
 * belongs to the agent but while the VMM writes to it: a VMM that was taken over by its guest cannot fill the disk.
 */
export class SuspendedMemory {
  readonly directory: string;

  constructor(
    logDir: string,
    private readonly user: number,
  ) {
    this.directory = join(logDir, folderName);
  }

  /** Empty, and the agent's. */
  async make(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
  }

  /**
   * The VMM may write to it. Returns the most bytes that a suspend may take. Throws a permanent `VerbFailure`:
   * `no_room_to_suspend`, or `suspend_unprepared` for a VM of a build that made no folder.
   */
  async open(memoryBytes: number): Promise<number> {
    const limit = memoryBytes + slackBytes;
    const room = await statfs(this.directory).catch(() => null);
    if (!room)
      throw new VerbFailure(
        'suspend_unprepared',
        'It was started by an older release: stop it and start it once.',
        true,
      );
    if (room.bavail * room.bsize < limit)
      throw new VerbFailure(
        'no_room_to_suspend',
        'Its host has no room on its disk for the memory of the guest.',
        true,
      );
    await this.lendEmpty();
    return limit;
  }

  /**
   * The VMM may write something else into it, which is not kept here. Throws a permanent `VerbFailure` `no_core_dump` for a
   * VM of a build that made no folder.
   */
  async lendFor(): Promise<void> {
    if (!(await stat(this.directory).catch(() => null)))
      throw new VerbFailure('no_core_dump', 'It was started by an older release: stop it and start it once.', true);
    await this.lendEmpty();
  }

  /** What the VMM has written under that name is the agent's alone, and lies there. Throws as `own`. */
  async moveOut(name: string, path: string): Promise<void> {
    await this.own(0);
    const file = join(this.directory, name);
    await chmod(file, 0o600);
    await rename(file, path);
  }

  private async lendEmpty(): Promise<void> {
    await this.empty();
    await chown(this.directory, this.user, this.user);
  }

  /** What was written is on the disk, is the agent's again, and counts. */
  async complete(): Promise<void> {
    await this.own(0);
    await together(...(await readdir(this.directory)).map((name) => flush(join(this.directory, name))));
    const mark = join(this.directory, completeMark);
    await writeFile(mark, '', { mode: 0o600 });
    await flush(mark);
    await flush(this.directory);
  }

  /** From here on the machine runs and its disks change: what was kept fits them no more, whatever comes next. */
  async use(): Promise<void> {
    await rm(join(this.directory, completeMark), { force: true });
    await flush(this.directory);
  }

  /** For the VMM that goes on from it. */
  lend(): Promise<void> {
    return this.own(this.user);
  }

  async isComplete(): Promise<boolean> {
    return stat(join(this.directory, completeMark)).then(
      () => true,
      () => false,
    );
  }

  /** What was kept is gone; the folder stays, the agent's. The mark goes first: what is half gone does not count. */
  async empty(): Promise<void> {
    await rm(join(this.directory, completeMark), { force: true });
    const names = await readdir(this.directory).catch(() => []);
    await together(...names.map((name) => rm(join(this.directory, name), { recursive: true, force: true })));
    if (await stat(this.directory).catch(() => null)) await chown(this.directory, 0, 0);
  }

  /**
   * Folder first: once it is the agent's, a VMM that was taken over can exchange nothing in it. What it has put there may
   * still be a link or a pipe, which is neither followed nor opened. Throws a permanent `VerbFailure` `suspend_failed`.
   */
  private async own(user: number): Promise<void> {
    if (user === 0) await chown(this.directory, 0, 0);
    for (const name of await readdir(this.directory)) {
      const path = join(this.directory, name);
      if (!(await lstat(path)).isFile())
        throw new VerbFailure('suspend_failed', 'The VMM kept something else than files.', true);
      await lchown(path, user, user);
    }
    if (user !== 0) await chown(this.directory, user, user);
  }
}

const flush = async (path: string): Promise<void> => {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Of a VM that is there or was. */
export const memoryOf = ({ logDir, user }: Pick<VmHandle, 'logDir' | 'user'>): SuspendedMemory =>
  new SuspendedMemory(logDir, user);
