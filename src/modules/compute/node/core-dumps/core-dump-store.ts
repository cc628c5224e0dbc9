import { injectable } from 'inversify';
import { chmod, mkdir, open, readdir, rename, rm, stat, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Config } from '../../../../core/config/config';
import { syncDirectory } from '../../../../core/host/files/sync-directory';
import { KeyedMutex } from '../../../../core/host/keyed-mutex';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { ComputeConfig } from '../../contract/compute.config';
import type { CoreDumpFormat } from '../../contract/core-dump-formats';
import type { CoreDumpFile } from '../../contract/core-dumps';
import { InstanceStore } from '../instances/instance-store';

/** In the folder of an instance, so that it goes with it. */
const folderName = 'core-dumps';
/** `<id>.<format>`; the half ones are called otherwise. */
const whole = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([a-z][a-z0-9-]{0,62})$/;
const halfSuffix = '.part';
/** Bytes beside the guest's memory: the format's own, the memory of its screen and its firmware. */
const slackBytes = 256 * 1024 * 1024;

/** One that is made. */
interface Begun {
  /** Where it is written. */
  path: string;
  /** Bytes that it may have. */
  limit: number;
  /** It is whole: on the disk, and under its name. */
  complete: () => Promise<CoreDumpFile>;
  /** Nothing is left of it; does nothing once it is whole. */
  discard: () => Promise<void>;
}

interface Found extends CoreDumpFile {
  path: string;
  /** What it takes on the disk, in bytes. */
  stored: number;
}

/**
 * The core dumps that lie on this host: files of root's alone, in a folder that no VMM sees. A dump is there when its
 * file has its name; nothing else is written down of it.
 */
@injectable()
export class CoreDumpStore {
  private readonly limits: ComputeConfig['coreDumps'];
  private readonly mutex = new KeyedMutex();
  /** Bytes that those which are being made may come to. */
  private readonly reserved = new Map<string, number>();

  constructor(
    private readonly store: InstanceStore,
    config: Config,
  ) {
    this.limits = config.section<ComputeConfig>('compute').coreDumps;
  }

  /** Whole ones, the newest first. */
  async list(instanceId: string): Promise<CoreDumpFile[]> {
    const found = await this.found(instanceId);
    return found
      .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
      .map(({ id, format, bytes, createdAt }) => ({ id, format, bytes, createdAt }));
  }

  async find(instanceId: string, dumpId: string): Promise<CoreDumpFile | undefined> {
    return (await this.list(instanceId)).find(({ id }) => id === dumpId);
  }

  /** For reading. Throws a permanent `VerbFailure` `core_dump_absent`. */
  async open(instanceId: string, dumpId: string): Promise<FileHandle> {
    const dump = (await this.found(instanceId)).find(({ id }) => id === dumpId);
    if (!dump) throw coreDumpAbsent();
    return open(dump.path, 'r').catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? coreDumpAbsent() : error;
    });
  }

  /**
   * Makes sure that there is room for it, and keeps that for it until it is complete or discarded. Throws a permanent
   * `VerbFailure` `too_many_core_dumps`, `core_dumps_full`, `no_room_to_dump`.
   */
  async begin(instanceId: string, dumpId: string, format: CoreDumpFormat, memoryBytes: number): Promise<Begun> {
    const folder = this.folder(instanceId);
    const limit = memoryBytes + slackBytes;
    await this.mutex.run('room', async () => {
      await this.refuse(instanceId, limit);
      this.reserved.set(dumpId, limit);
    });
    const path = join(folder, `${dumpId}${halfSuffix}`);
    const end = (): void => void this.reserved.delete(dumpId);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await rm(path, { force: true });
    } catch (error) {
      end();
      throw error;
    }
    return {
      path,
      limit,
      complete: async () => {
        const name = join(folder, `${dumpId}.${format}`);
        await chmod(path, 0o600);
        await flush(path);
        await rename(path, name);
        await syncDirectory(folder);
        end();
        const { size, mtime } = await stat(name);
        return { id: dumpId, format, bytes: size, createdAt: mtime.toISOString() };
      },
      discard: async () => {
        await rm(path, { force: true });
        end();
      },
    };
  }

  /** Also a half one. */
  async remove(instanceId: string, dumpId: string): Promise<void> {
    const folder = this.folder(instanceId);
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (name.startsWith(`${dumpId}.`)) await rm(join(folder, name), { force: true });
  }

  /** What a dump that was cut has left. Called while none of the instance is made. */
  async discardHalf(instanceId: string): Promise<void> {
    const folder = this.folder(instanceId);
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (name.endsWith(halfSuffix)) await rm(join(folder, name), { force: true });
  }

  private async refuse(instanceId: string, limit: number): Promise<void> {
    const { perInstance, hostBytes, keepFreeBytes } = this.limits;
    if ((await this.found(instanceId)).length >= perInstance)
      throw new VerbFailure(
        'too_many_core_dumps',
        `Its host keeps ${perInstance} core dumps of an instance, and has as many.`,
        true,
      );
    const reserved = [...this.reserved.values()].reduce((sum, bytes) => sum + bytes, 0);
    let stored = 0;
    for (const other of await readdir(this.store.directory('')).catch(() => []))
      for (const dump of await this.found(other)) stored += dump.stored;
    if (stored + reserved + limit > hostBytes)
      throw new VerbFailure(
        'core_dumps_full',
        'The core dumps on its host take all the room that is meant for them.',
        true,
      );
    const { bavail, bsize } = await statfs(this.store.directory(instanceId));
    if (bavail * bsize < reserved + limit + keepFreeBytes)
      throw new VerbFailure('no_room_to_dump', 'Its host has no room on its disk for the memory of the guest.', true);
  }

  private async found(instanceId: string): Promise<Found[]> {
    const folder = this.folder(instanceId);
    const names = await readdir(folder).catch(() => []);
    const dumps = names.map(async (name): Promise<Found[]> => {
      const [, id, format] = whole.exec(name) ?? [];
      if (id === undefined || format === undefined || name.endsWith(halfSuffix)) return [];
      const path = join(folder, name);
      const file = await stat(path).catch(() => null);
      if (!file?.isFile()) return [];
      return [{ id, format, bytes: file.size, createdAt: file.mtime.toISOString(), path, stored: file.blocks * 512 }];
    });
    return (await Promise.all(dumps)).flat();
  }

  private folder(instanceId: string): string {
    return join(this.store.directory(instanceId), folderName);
  }
}

export const coreDumpAbsent = (): VerbFailure =>
  new VerbFailure('core_dump_absent', 'Its host does not have this core dump.', true);

const flush = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};
