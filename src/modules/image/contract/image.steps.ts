import type { z } from 'zod';
import type { RemoteSpec } from '../../../core/workflow/definition/definition';
import { certain, type Known } from '../../../core/workflow/definition/fragment';
import { PermanentError } from '../../../core/workflow/definition/workflow-error';
import type { Images, UsableImage } from './image.ports';
import { imageEnsure } from './image.verbs';

interface Fetched {
  cached: boolean;
}

/** What a host is told of an image that it is to have. */
const imageWanted = ({ id, sha256, virtualBytes, kernel }: UsableImage): z.output<typeof imageEnsure.args> => ({
  imageId: id,
  sha256,
  virtualBytes,
  ...(kernel && { kernel: { sha256: kernel.sha256, bytes: kernel.bytes, initramfs: kernel.initramfs } }),
});

/** The image is in the host's cache, verified, with the kernel that it brings. */
export const fetchImage = <I, O>(
  images: Images,
  wanted: Known<I, O, { hostId: string; imageId: string }>,
): RemoteSpec<I, O, ReturnType<typeof imageWanted>, Fetched> => ({
  title: 'Fetch the image to the host',
  verb: imageEnsure,
  node: (c) => certain(wanted, c).hostId,
  args: async (c) => {
    const image = await images.byId(c.op, certain(wanted, c).imageId);
    if (!image) throw new PermanentError('image_gone', 'The image was deleted meanwhile.');
    return imageWanted(image);
  },
  noUndo: 'the cache of the host belongs to all its instances and evicts by itself',
});
