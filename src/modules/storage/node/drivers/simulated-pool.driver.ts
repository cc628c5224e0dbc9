import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../../core/host/files/replace-file';
import { AttachedVolumes } from './attached-volumes';
import { poolFiles } from './pool-files';
import { PoolDriver, type EnsureVolume, type PoolFile, type PoolVolume } from './pool.driver';

const ending = '.name';

/** Keeps the names and sizes of volumes, not their bytes: for scale tests with simulated guests. */
export class SimulatedPoolDriver extends PoolDriver {
  readonly kind = 'simulated';
  readonly copies = false;
  readonly opened = false;
  readonly attached: AttachedVolumes;
  /** Bytes by volume, as the files say. */
  private readonly volumes = new Map<string, number>();

  constructor(
    readonly name: string,
    private readonly directory: string,
    /** Size of the pool, in bytes. */
    private readonly totalBytes: number,
  ) {
    super();
    this.attached = new AttachedVolumes(directory, '.name');
  }

  override async open(): Promise<void> {
    await mkdir(this.directory, { recursive: true });
    this.volumes.clear();
    for (const file of await readdir(this.directory)) {
      if (!file.endsWith(ending)) continue;
      const bytes = Number(await readFile(join(this.directory, file), 'utf8'));
      this.volumes.set(file.slice(0, -ending.length), bytes);
    }
  }

  override async ensure({ volumeId, bytes }: EnsureVolume): Promise<PoolVolume> {
    const there = await this.find(volumeId);
    if (there && there.bytes >= bytes) return there;
    await replaceFile(this.path(volumeId), String(bytes), { durable: false });
    this.volumes.set(volumeId, bytes);
    return { path: this.path(volumeId), format: 'raw', bytes };
  }

  override bootFiles(volumeId: string): { kernel: string; initramfs: string } {
    const path = (name: string): string => join(this.directory, `${volumeId}.${name}`);
    return { kernel: path('kernel'), initramfs: path('initramfs') };
  }

  override async absent(volumeId: string): Promise<void> {
    await this.attached.refuseHeld(this.path(volumeId));
    await rm(this.path(volumeId), { force: true });
    this.volumes.delete(volumeId);
  }

  override async find(volumeId: string): Promise<PoolVolume | null> {
    const bytes = this.volumes.get(volumeId);
    return bytes === undefined ? null : { path: this.path(volumeId), format: 'raw', bytes };
  }

  override files(): Promise<PoolFile[]> {
    return poolFiles(this.directory, /^([0-9a-f-]{36})\.name$/);
  }

  override async capacity(): Promise<{ totalBytes: number; freeBytes: number }> {
    const used = [...this.volumes.values()].reduce((sum, bytes) => sum + bytes, 0);
    return { totalBytes: this.totalBytes, freeBytes: Math.max(0, this.totalBytes - used) };
  }

  private path(volumeId: string): string {
    return join(this.directory, `${volumeId}${ending}`);
  }
}
