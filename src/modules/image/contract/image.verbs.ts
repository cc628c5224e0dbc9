import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { NotUnderstood } from '../../../core/m2m/verbs/not-understood';
import { type AnyVerb, defineVerb } from '../../../core/m2m/verbs/verb';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const bootFile = z.object({ sha256, bytes: field.bytes });

/**
 * Fetches the image from management unless it is cached, with the kernel that it brings; verifies size and SHA-256 of
 * each file. One download per image and node, whoever asks.
 */
export const imageEnsure = defineVerb('image.ensure', {
  args: z.object({
    imageId: field.id,
    sha256,
    virtualBytes: field.bytes,
    /** Absent: it brings none; sent only when it does. */
    kernel: bootFile.extend({ initramfs: bootFile.nullable() }).optional(),
  }),
  result: z.object({ cached: z.boolean() }),
  revision: 2,
  older: {
    2: (args) => {
      // An agent of before would boot whatever is on the disk.
      if (args['kernel'] !== undefined) throw new NotUnderstood('kernels of images');
      return args;
    },
  },
  timeoutMs: 15_000,
  long: true,
});
/** Drops the image from the node's cache. */
export const imageAbsent = defineVerb('image.absent', {
  args: z.object({ imageId: field.id }),
  result: z.object({}),
});

export const imageVerbs: readonly AnyVerb[] = [imageAbsent, imageEnsure];
