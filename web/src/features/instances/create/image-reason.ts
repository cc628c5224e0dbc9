import { bytes } from '../../../lib/format';
import type { Flavor, Image } from '../../../lib/types';

/** Why the image cannot be used with the flavor, or null. */
export const imageReason = (image: Image, flavor: Flavor | undefined): string | null => {
  if (image.state !== 'ready')
    return image.state === 'error' ? image.message || 'Its import failed.' : `Not ready yet: ${image.state}.`;
  if (flavor !== undefined && flavor.diskBytes > 0 && (image.virtualBytes ?? 0) > flavor.diskBytes)
    return `Larger than the flavor's disk of ${bytes(flavor.diskBytes)}.`;
  return null;
};
