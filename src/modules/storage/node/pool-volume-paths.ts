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
}
