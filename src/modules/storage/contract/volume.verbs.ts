import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { type AnyVerb, defineVerb } from '../../../core/m2m/verbs/verb';

/**
 * Makes the volume (raw, sparse; a copy or reflink of the image when given, grown to `bytes`). Safe to repeat; never
 * overwrites a finished volume.
 */
export const volumeEnsure = defineVerb('volume.ensure', {
  args: z.object({
    volumeId: field.id,
    pool: z.string().max(63),
    bytes: field.bytes,
    imageId: field.id.nullable(),
  }),
  result: z.object({ bytes: field.bytes }),
  timeoutMs: 15_000,
  long: true,
});
/**
 * The volume has at least so many bytes; what it holds stays. It must be there (`volume_not_found`), and no machine may
 * have it open: that one would not notice. Undone by nothing: a disk that is larger than it needs to be does no harm.
 */
export const volumeGrow = defineVerb('volume.grow', {
  args: z.object({ volumeId: field.id, pool: z.string().max(63), bytes: field.bytes }),
  result: z.object({ bytes: field.bytes }),
  timeoutMs: 15_000,
  long: true,
});
/** Deletes the volume's bytes; done when nothing is left. */
export const volumeAbsent = defineVerb('volume.absent', {
  args: z.object({ volumeId: field.id, pool: z.string().max(63) }),
  result: z.object({}),
});

export const storageVerbs: readonly AnyVerb[] = [volumeAbsent, volumeEnsure, volumeGrow];
