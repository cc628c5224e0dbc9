import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../../core/host/files/replace-file';
import { PoolDriver, type EnsureVolume, type PoolVolume } from './pool.driver';

/** Keeps the names and sizes of volumes, not their bytes: for scale tests with simulated guests. */
export class SimulatedPoolDriver extends PoolDriver {
  readonly kind = 'simulated';
  readonly copies = false;

  constructor(
    readonly name: string,
    private readonly directory: string,
    /** Size of the pool, in bytes. */
    private readonly totalBytes: number,
  ) {
    super();
  }

  override async open(): Promise<void> {
    await mkdir(this.directory, { recursive: true });
  }

  override async ensure({ volumeId, bytes }: EnsureVolume): Promise<PoolVolume> {
    const there = await this.find(volumeId);
    if (there && there.bytes >= bytes) return there;
    await replaceFile(this.path(volumeId), String(bytes), { durable: false });
    return { path: this.path(volumeId), format: 'raw', bytes };
  }

  override async absent(volumeId: string): Promise<void> {
    await rm(this.path(volumeId), { force: true });
  }

  override async find(volumeId: string): Promise<PoolVolume | null> {
    const text = await readFile(this.path(volumeId), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    return text === null ? null : { path: this.path(volumeId), format: 'raw', bytes: Number(text) };
  }

  override async capacity(): Promise<{ totalBytes: number; freeBytes: number }> {
    let used = 0;
    for (const file of await readdir(this.directory))
      used += Number(await readFile(join(this.directory, file), 'utf8').catch(() => '0')) || 0;
    return { totalBytes: this.totalBytes, freeBytes: Math.max(0, this.totalBytes - used) };
  }

  private path(volumeId: string): string {
    return join(this.directory, `${volumeId}.name`);
  }
}
