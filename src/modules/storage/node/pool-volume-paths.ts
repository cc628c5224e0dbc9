import { injectable } from 'inversify';
import { VerbFailure } from '../../../core/m2m/verbs/verb-handler';
import { VolumePaths } from '../contract/storage.ports';
import { Pools } from './pools';

@injectable()
export class PoolVolumePaths extends VolumePaths {
  constructor(private readonly pools: Pools) {
    super();
  }

  /** Throws `VerbFailure` `volume_not_found` when `volume.ensure` has not made it. */
  override async locate(volumeId: string, pool: string): Promise<{ path: string; format: 'raw'; bytes: number }> {
    const volume = await this.pools.require(pool).find(volumeId);
    if (!volume) throw new VerbFailure('volume_not_found', `The pool "${pool}" has no volume ${volumeId}.`, true);
    return volume;
  }

  override bootFiles(volumeId: string, pool: string): { kernel: string; initramfs: string } {
    return this.pools.require(pool).bootFiles(volumeId);
  }

  override async folders(instanceId: string): Promise<string[]> {
    const opened = this.pools.all().filter((pool) => pool.opened);
    return Promise.all(opened.map((pool) => pool.attached.folderOf(instanceId)));
  }

  override async attach(
    instanceId: string,
    { volumeId, pool }: { volumeId: string; pool: string },
  ): Promise<{ path: string; format: 'raw'; bytes: number }> {
    const volume = await this.locate(volumeId, pool);
    return { ...volume, path: await this.pools.require(pool).attached.add(instanceId, volumeId, volume.path) };
  }

  override async keepOnly(instanceId: string, volumeIds: readonly string[]): Promise<void> {
    for (const { attached } of this.pools.all())
      for (const volumeId of await attached.of(instanceId))
        if (!volumeIds.includes(volumeId)) await attached.remove(instanceId, volumeId);
  }

  override async forget(instanceId: string): Promise<void> {
    for (const { attached } of this.pools.all()) await attached.forget(instanceId);
  }
}
