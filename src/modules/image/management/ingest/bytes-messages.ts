import { z } from 'zod';
import { imageFormats } from '../../contract/image.api';
import { refusals } from '../import/image-refused';
import { bootParts } from './boot-parts';

const digests = ['sha256', 'sha512'] as const;
export type DigestName = (typeof digests)[number];

/** What the child that reads an image's bytes is told: to inspect them, to hash them, or both. */
export const bytesJob = z.strictObject({
  inspect: z.strictObject({ claimed: z.enum(imageFormats).nullable(), maxVirtualBytes: z.number() }).nullable(),
  /** Instead of a disk it is to be a file of a kernel's. */
  boot: z.enum(bootParts).nullable().default(null),
  /** It is a raw disk whose way to boot is to be found. */
  boots: z.boolean().default(false),
  digests: z.array(z.enum(digests)),
  /** The file's extents as `qemu-img map --output=json` prints them, one a line; its holes are not read. */
  extents: z.string().nullable(),
});
export type BytesJob = z.input<typeof bytesJob>;

/** Descriptor of the image in the child. */
export const source = 4;

const bytes = z.int().min(0);
const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));

/** The child's only word. */
export const bytesReport = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('done'),
    facts: z.strictObject({ format: z.enum(imageFormats), virtualBytes: bytes, dataBytes: bytes }).nullable(),
    boots: z.enum(['bios', 'uefi', 'any']).nullable(),
    sha256: hex(64).nullable(),
    sha512: hex(128).nullable(),
  }),
  z.strictObject({ kind: z.literal('refused'), code: z.enum(refusals), message: z.string().max(1000) }),
]);
export type BytesReport = z.output<typeof bytesReport>;
