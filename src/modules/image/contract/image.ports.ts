import type { InUseBy } from '../../../core/errors/in-use';
import type { Op } from '../../../core/db/rows/op';

/** A file that is handed to a kernel's loader as it is. */
export interface BootFile {
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
}

/** By which an image boots, whatever is on its disk. */
export interface ImageKernel extends BootFile {
  initramfs: BootFile | null;
  commandLine: string;
}

export interface UsableImage {
  id: string;
  name: string;
  virtualBytes: number;
  sha256: string;
  architecture: string;
  /** What boots it: `any` leaves it to the host's VMM. */
  firmware: 'any' | 'bios' | 'uefi';
  /** The kind of VMM that its instances run on; null for whichever. */
  vmm: string | null;
  /** Null: what is on its disk boots it. */
  kernel: ImageKernel | null;
  /** Text for its guests, empty for none. */
  vendorData: string;
}

/** Port (management half). */
export abstract class Images {
  /**
   * The image that `ref` (id or name) means in the project, own or public. 404 when there is none, 409
   * `image_not_ready` when it is not ready.
   */
  abstract requireReady(op: Op, projectId: string, ref: string): Promise<UsableImage>;
  abstract byId(op: Op, id: string): Promise<UsableImage | null>;
}

/** Who needs an image. `count` includes those beyond the first ones. */
export interface ImageUsers {
  first: (InUseBy & { projectId: string })[];
  count: number;
}

/**
 * Port (management half): modules whose rows need an image implement it (multi-injected), so that it is not deleted
 * under them.
 */
export abstract class ImageUsage {
  /**
   * The first `limit` users of the image, and how many there are. The image's row is locked meanwhile:
   * `Images.requireReady` in another transaction waits.
   */
  abstract users(op: Op, imageId: string, limit: number): Promise<ImageUsers>;
}

/** Files of a kernel on this host; absolute paths. */
export interface CachedKernel {
  kernel: string;
  initramfs: string | null;
}

/** Port (node half): the verified raw files of images in the node's cache. */
export abstract class ImageCache {
  /** Absolute path of the raw file; throws `image_not_cached` when `image.ensure` has not run. */
  abstract path(imageId: string): Promise<string>;
  /**
   * Runs `work` with the path, and with the kernel that the image brings, null for none; the files are not evicted
   * meanwhile.
   */
  abstract use<T>(imageId: string, work: (path: string, kernel: CachedKernel | null) => Promise<T>): Promise<T>;
}
