import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { type AnyVerb, defineVerb } from '../../../core/m2m/verbs/verb';

/**
 * Fetches the image from management unless it is cached; verifies size and SHA-256. One download per image and node,
 * whoever asks.
 */
export const imageEnsure = defineVerb('image.ensure', {
  args: z.object({ imageId: field.id, sha256: z.string().regex(/^[0-9a-f]{64}$/), virtualBytes: field.bytes }),
  result: z.object({ cached: z.boolean() }),
  timeoutMs: 15_000,
  long: true,
});
/** Drops the image from the node's cache. */
export const imageAbsent = defineVerb('image.absent', {
  args: z.object({ imageId: field.id }),
  result: z.object({}),
});

export const imageVerbs: readonly AnyVerb[] = [imageAbsent, imageEnsure];
