import { injectable } from 'inversify';
import { handle, VerbFailure, VerbHandlers, type VerbHandler } from '../../../core/m2m/verbs/verb-handler';
import { type CachedKernel, ImageCache } from '../../image/contract/image.ports';
import { volumeAbsent, volumeEnsure, volumeGrow } from '../contract/volume.verbs';
import { Pools } from './pools';

/** `volume.ensure`, `volume.grow` and `volume.absent`, one at a time per volume. */
@injectable()
export class VolumeHandlers extends VerbHandlers {
  constructor(
    private readonly pools: Pools,
    private readonly images: ImageCache,
  ) {
    super();
  }

  override handlers(): VerbHandler[] {
    return [
      handle(volumeEnsure, ({ volumeId, pool, bytes, imageId }, ctx) =>
        this.pools.exclusively(volumeId, async () => {
          const driver = this.pools.require(pool);
          const there = await driver.find(volumeId);
          const make = async (source: string | null, boot: CachedKernel | null = null): Promise<{ bytes: number }> => ({
            bytes: (await driver.ensure({ volumeId, bytes, source, boot, signal: ctx.signal })).bytes,
          });
          return imageId === null || there || !driver.copies ? make(null) : this.images.use(imageId, make);
        }),
      ),
      handle(volumeGrow, ({ volumeId, pool, bytes }, ctx) =>
        this.pools.exclusively(volumeId, async () => {
          const driver = this.pools.require(pool);
          if (!(await driver.find(volumeId)))
            throw new VerbFailure('volume_not_found', `The pool "${pool}" has no volume ${volumeId}.`, true);
          return { bytes: (await driver.ensure({ volumeId, bytes, source: null, signal: ctx.signal })).bytes };
        }),
      ),
      handle(volumeAbsent, ({ volumeId, pool }) =>
        this.pools.exclusively(volumeId, async () => {
          await this.pools.require(pool).absent(volumeId);
          return {};
        }),
      ),
    ];
  }
}
