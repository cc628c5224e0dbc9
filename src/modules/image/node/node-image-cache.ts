import { injectable } from 'inversify';
import { type CachedKernel, ImageCache } from '../contract/image.ports';
import { ImageStore } from './image-store';

@injectable()
export class NodeImageCache extends ImageCache {
  constructor(private readonly store: ImageStore) {
    super();
  }

  override path(imageId: string): Promise<string> {
    return this.store.path(imageId);
  }

  override use<T>(imageId: string, work: (path: string, kernel: CachedKernel | null) => Promise<T>): Promise<T> {
    return this.store.use(imageId, work);
  }
}
