import type { NodeWiring } from '../../../core/app/module-manifest';
import { ImageCache } from '../contract/image.ports';
import { ImageHandlers } from './image.handlers';
import { ImageStore } from './image-store';
import { NodeImageCache } from './node-image-cache';

export const imageNodeWiring: NodeWiring = {
  bind: ({ bind }) => {
    bind(ImageStore).toSelf().inSingletonScope();
    bind(ImageHandlers).toSelf().inSingletonScope();
    bind(ImageCache).to(NodeImageCache).inSingletonScope();
  },
  verbs: [ImageHandlers],
  services: [ImageStore],
};
