import { injectable } from 'inversify';
import { Config } from '../../../core/config/config';
import { handle, VerbHandlers, type VerbHandler } from '../../../core/m2m/verbs/verb-handler';
import type { ImageConfig } from '../contract/image.config';
import { imageAbsent, imageEnsure } from '../contract/image.verbs';
import { ImageStore } from './image-store';

@injectable()
export class ImageHandlers extends VerbHandlers {
  private readonly simulated: boolean;

  constructor(
    private readonly store: ImageStore,
    config: Config,
  ) {
    super();
    this.simulated = config.section<ImageConfig>('image').nodeDriver === 'simulated';
  }

  override handlers(): VerbHandler[] {
    return [
      handle(imageEnsure, (args, ctx) =>
        this.simulated ? Promise.resolve({ cached: true }) : this.store.ensure(args, ctx),
      ),
      handle(imageAbsent, async ({ imageId }) => {
        if (!this.simulated) await this.store.remove(imageId);
        return {};
      }),
    ];
  }
}
