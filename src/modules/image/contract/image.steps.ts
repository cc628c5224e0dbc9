import type { RemoteSpec } from '../../../core/workflow/definition/definition';
import { certain, type Known } from '../../../core/workflow/definition/fragment';
import { PermanentError } from '../../../core/workflow/definition/workflow-error';
import type { Images } from './image.ports';
import { imageEnsure } from './image.verbs';

interface Fetched {
  cached: boolean;
}

/** The image is in the host's cache, verified. */
export const fetchImage = <I, O>(
  images: Images,
  wanted: Known<I, O, { hostId: string; imageId: string }>,
): RemoteSpec<I, O, { imageId: string; sha256: string; virtualBytes: number }, Fetched> => ({
  title: 'Fetch the image to the host',
  verb: imageEnsure,
  node: (c) => certain(wanted, c).hostId,
  args: async (c) => {
    const image = await images.byId(c.op, certain(wanted, c).imageId);
    if (!image) throw new PermanentError('image_gone', 'The image was deleted meanwhile.');
    return { imageId: image.id, sha256: image.sha256, virtualBytes: image.virtualBytes };
  },
  noUndo: 'the cache of the host belongs to all its instances and evicts by itself',
});
