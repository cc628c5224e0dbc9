import { chmod, chown, link, mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
const unless =
  (...codes: string[]) =>
  (error: unknown): void => {
    if (!codes.includes(codeOf(error) ?? '')) throw error;
  };

/**
 * Which instances of this host have which volumes of a pool: a folder per instance, and in it a second name (hard link)
 * of each volume that it has. A VMM sees its folder from its start, so what comes into it later can be opened by it, and
 * nothing else can. Links lie beside the volumes, for they cannot lead to another file system. There is no other record:
 * a volume with a second name is somebody's.
 */
export class AttachedVolumes {
  private readonly folder: string;

  /** @param directory the pool's folder, in which links may lie */
  constructor(
    directory: string,
    private readonly suffix: string,
  ) {
    this.folder = join(directory, 'attached');
  }

  /** Makes the instance's folder: its VMM may look into it and change nothing there. */
  async folderOf(instanceId: string): Promise<string> {
    const path = join(this.folder, instanceId);
    for (;;) {
      await mkdir(this.folder, { mode: 0o711 }).catch(unless('EEXIST'));
      // The folder above goes with the last instance: maybe just now.
      const made = await mkdir(path, { mode: 0o711 }).then(
        () => true,
        (error: unknown) => codeOf(error) === 'EEXIST' || (unless('ENOENT')(error), false),
      );
      if (made) break;
    }
    for (const each of [this.folder, path]) await chmod(each, 0o711);
    return path;
  }

  /** Volume ids. */
  async of(instanceId: string): Promise<string[]> {
    const names = await readdir(join(this.folder, instanceId)).catch((error: unknown) => {
      unless('ENOENT')(error);
      return [];
    });
    return names.map((name) => name.slice(0, -this.suffix.length));
  }

  /**
   * The instance has the volume at `volumePath`, under the path that is returned. Throws `VerbFailure` `volume_held`
   * while another one of this host has it.
   */
  async add(instanceId: string, volumeId: string, volumePath: string): Promise<string> {
    const path = join(await this.folderOf(instanceId), volumeId + this.suffix);
    const [volume, there] = await Promise.all([stat(volumePath), stat(path).catch(() => null)]);
    if (there?.ino === volume.ino) return path;
    if (there) await rm(path);
    if (volume.nlink > 1) throw held();
    await link(volumePath, path);
    return path;
  }

  /** The instance has it no more, and whoever ran its VMM may not open it again. */
  async remove(instanceId: string, volumeId: string): Promise<void> {
    const path = join(this.folder, instanceId, volumeId + this.suffix);
    await takeBack(path);
    await rm(path, { force: true });
  }

  /** It has none any more, and no folder. */
  async forget(instanceId: string): Promise<void> {
    for (const volumeId of await this.of(instanceId)) await this.remove(instanceId, volumeId);
    await rmdir(join(this.folder, instanceId)).catch(unless('ENOENT'));
    await rmdir(this.folder).catch(unless('ENOENT', 'ENOTEMPTY'));
  }

  /** Throws `VerbFailure` `volume_held` when an instance has the volume. */
  async refuseHeld(volumePath: string): Promise<void> {
    const volume = await stat(volumePath).catch(() => null);
    if (volume && volume.nlink > 1) throw held();
  }
}

const takeBack = async (path: string): Promise<void> => {
  if (process.getuid?.() === 0) await chown(path, 0, 0).catch(unless('ENOENT'));
  await chmod(path, 0o600).catch(unless('ENOENT'));
};

/** Not for good: an instance that was deleted while this host was away still has it until it is told so. */
const held = (): VerbFailure => new VerbFailure('volume_held', 'An instance on this host still has the volume.', false);
