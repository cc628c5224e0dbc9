import type { Op } from '../../../core/db/op';

export interface UsableImage {
  id: string;
  name: string;
  virtualBytes: number;
  sha256: string;
  architecture: string;
}

/** Port (management half). */
export abstract class Images {
  /** The image that `ref` (id or name) means in the project, own or public. 404 when there is none, 409 `image_not_ready` when it is not ready. */
  abstract requireReady(op: Op, projectId: string, ref: string): Promise<UsableImage>;
  abstract byId(op: Op, id: string): Promise<UsableImage | null>;
}

/** Port (node half): the verified raw file of an image in the node's cache. */
export abstract class ImageCache {
  /** Absolute path of the raw file; throws when `image.ensure` has not run. */
  abstract path(imageId: string): Promise<string>;
}
