import { chmod, constants, copyFile, link, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { exec, ExecError } from '../../../../core/host/processes/exec';
import { syncDirectory } from '../../../../core/host/files/sync-directory';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { AttachedVolumes } from './attached-volumes';
import { poolFiles } from './pool-files';
import { PoolDriver, type BootFiles, type EnsureVolume, type PoolFile, type PoolVolume } from './pool.driver';

/** A copy of a large image on a slow disk. */
const copyTimeoutMs = 3_600_000;
const partSuffix = '.part';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
const isFull = (error: unknown): boolean =>
  codeOf(error) === 'ENOSPC' ||
  codeOf(error) === 'EDQUOT' ||
  (error instanceof ExecError && /No space left|Disk quota exceeded/.test(error.stderr));

/** A directory with one sparse raw file per volume. Copies share blocks where the file system can (reflink). */
export class LocalPoolDriver extends PoolDriver {
  readonly kind = 'local';
  readonly copies = true;
  readonly opened = true;
  readonly attached: AttachedVolumes;
  private readonly volumes: string;

  constructor(
    readonly name: string,
    /** The pool's folder. */
    directory: string,
  ) {
    super();
    this.volumes = join(directory, 'volumes');
    this.attached = new AttachedVolumes(directory, '.raw');
  }

  override async open(): Promise<void> {
    await mkdir(this.volumes, { recursive: true, mode: 0o711 });
    for (const file of await readdir(this.volumes))
      if (file.endsWith(partSuffix)) await rm(join(this.volumes, file), { force: true });
  }

  override async ensure({ volumeId, bytes, source, boot, signal }: EnsureVolume): Promise<PoolVolume> {
    const there = await this.find(volumeId);
    if (there) return there.bytes >= bytes ? there : this.grow(there, bytes);
    const part = this.path(volumeId) + partSuffix;
    try {
      await rm(part, { force: true });
      await this.make(part, bytes, source, signal);
      // Before the volume has its name: where it stands, they do.
      if (boot) await this.placeBoot(volumeId, boot);
      await rename(part, this.path(volumeId));
      await syncDirectory(this.volumes);
    } catch (error) {
      await rm(part, { force: true });
      await this.dropBoot(volumeId);
      if (isFull(error))
        throw new VerbFailure('no_space', `The pool "${this.name}" is full.`, true, {}, { cause: error });
      throw error;
    }
    return { path: this.path(volumeId), format: 'raw', bytes };
  }

  override bootFiles(volumeId: string): { kernel: string; initramfs: string } {
    const path = (name: string): string => join(this.volumes, `${volumeId}.${name}`);
    return { kernel: path('kernel'), initramfs: path('initramfs') };
  }

  override async absent(volumeId: string): Promise<void> {
    await this.attached.refuseHeld(this.path(volumeId));
    await rm(this.path(volumeId), { force: true });
    await rm(this.path(volumeId) + partSuffix, { force: true });
    await this.dropBoot(volumeId);
    await syncDirectory(this.volumes);
  }

  override async find(volumeId: string): Promise<PoolVolume | null> {
    try {
      return { path: this.path(volumeId), format: 'raw', bytes: (await stat(this.path(volumeId))).size };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  override files(): Promise<PoolFile[]> {
    return poolFiles(this.volumes, /^([0-9a-f-]{36})\.(?:raw|kernel|initramfs)(?:\.part)?$/);
  }

  override async capacity(): Promise<{ totalBytes: number; freeBytes: number }> {
    const fs = await statfs(this.volumes);
    return { totalBytes: fs.blocks * fs.bsize, freeBytes: fs.bavail * fs.bsize };
  }

  private async make(part: string, bytes: number, source: string | null, signal: AbortSignal): Promise<void> {
    if (source !== null) {
      const size = (await stat(source)).size;
      if (size > bytes)
        throw new VerbFailure('volume_too_small', `The image needs ${size} bytes and the volume has ${bytes}.`, true);
      await exec('cp', ['--reflink=auto', '--sparse=always', '--no-preserve=all', '--', source, part], {
        timeoutMs: copyTimeoutMs,
        signal,
      });
    }
    const file = await open(part, source === null ? 'wx' : 'r+', 0o600);
    try {
      await file.truncate(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(part, 0o600);
  }

  /**
   * A second name of what the cache of images has and nobody writes to, or a copy where the pool lies on another file
   * system: it stays when the cache lets go of it.
   */
  private async placeBoot(volumeId: string, boot: BootFiles): Promise<void> {
    const { kernel, initramfs } = this.bootFiles(volumeId);
    await placeFile(boot.kernel, kernel);
    if (boot.initramfs !== null) await placeFile(boot.initramfs, initramfs);
  }

  private async dropBoot(volumeId: string): Promise<void> {
    for (const path of Object.values(this.bootFiles(volumeId))) {
      await rm(path, { force: true });
      await rm(path + partSuffix, { force: true });
    }
  }

  private async grow(volume: PoolVolume, bytes: number): Promise<PoolVolume> {
    const file = await open(volume.path, 'r+');
    try {
      await file.truncate(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    return { ...volume, bytes };
  }

  private path(volumeId: string): string {
    return join(this.volumes, `${volumeId}.raw`);
  }
}

const placeFile = async (from: string, to: string): Promise<void> => {
  const part = to + partSuffix;
  await rm(part, { force: true });
  await link(from, part).catch(async (error: unknown) => {
    if (!['EXDEV', 'EPERM', 'EMLINK'].includes(codeOf(error) ?? '')) throw error;
    await copyFile(from, part, constants.COPYFILE_FICLONE);
    await chmod(part, 0o444);
    const file = await open(part, 'r');
    await file.sync().finally(() => file.close());
  });
  await rename(part, to);
};
