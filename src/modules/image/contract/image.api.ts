import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { vmmKind } from '../../host/contract/vmm-kind';
import { commandLine } from './command-line';
import { vendorData } from './vendor-data';

export const imageFormats = ['raw', 'qcow2'] as const;
/** What boots the disk: `any` leaves it to the host's VMM; the others are placed only where a VMM has it. */
const imageFirmwares = ['any', 'bios', 'uefi'] as const;
/** `queued`: waiting for its bytes. `error` says why in `message`, and can only be deleted. */
const imageStates = ['queued', 'uploading', 'importing', 'ready', 'error', 'deleting'] as const;

/**
 * The algorithm and the number of digits are judged by the service: 400 `unknown_algorithm`, 422 `invalid_checksum`.
 */
const checksum = z
  .string()
  .max(200)
  .regex(/^([a-zA-Z0-9-]+:)?[0-9a-fA-F]+$/);

export const createImage = z.strictObject({
  name: field.displayName,
  description: field.description.default(''),
  /** Fetched by management when given; otherwise the bytes follow by PUT /images/{id}/content. */
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional(),
  /** `sha256:<hex>` or `sha512:<hex>` over the bytes as sent; a bare hex digest is SHA-256. */
  checksum: checksum.optional(),
  /** Told by the header when absent. */
  format: z.enum(imageFormats).optional(),
  firmware: z.enum(imageFirmwares).default('any'),
  /** Its instances run on this kind of VMM. Whether a host has it is looked at when one is made. */
  vmm: vmmKind.default(null),
  /**
   * It boots by a kernel of its own, whose bytes come by PUT /images/{id}/kernel, and an initramfs by
   * PUT /images/{id}/initramfs: both before the disk. Goes with neither a URL (422 `kernel_by_upload`) nor a firmware
   * (422 `kernel_or_firmware`).
   */
  kernel: z.strictObject({ commandLine: commandLine.default('') }).optional(),
  vendorData: vendorData.default(null),
  /** Visible in all projects; admins only. */
  public: z.boolean().default(false),
});
export const updateImage = z.strictObject({
  name: field.displayName.optional(),
  description: field.description.optional(),
  /** Of instances that are made from now on; null leaves the kind open. */
  vmm: vmmKind.optional(),
  /** Of instances that are made, rebuilt or rescued from now on. 422 `image_without_kernel`. */
  kernel: z.strictObject({ commandLine }).optional(),
  vendorData: vendorData.optional(),
});
const bootFile = z.object({ bytes: field.bytes, sha256: z.string() });
export const image = z
  .object({
    id: field.id,
    projectId: field.id,
    name: z.string(),
    description: z.string(),
    state: z.enum(imageStates),
    message: z.string(),
    public: z.boolean(),
    sourceFormat: z.enum(imageFormats).nullable(),
    /** Bytes as sent. */
    sourceBytes: field.bytes.nullable(),
    /** Size of the disk the guest sees, a multiple of 4096. */
    virtualBytes: field.bytes.nullable(),
    /** SHA-256 of the raw image as stored. */
    sha256: z.string().nullable(),
    architecture: z.string(),
    firmware: z.enum(imageFirmwares),
    vmm: z.string().nullable(),
    /** Null: whatever is on the disk boots it. Its members are null until their bytes have come. */
    kernel: z
      .object({ commandLine: z.string(), kernel: bootFile.nullable(), initramfs: bootFile.nullable() })
      .nullable(),
    vendorData: z.string().nullable(),
    taskId: field.id.nullable(),
    createdAt: field.timestamp,
  })
  .meta({ id: 'Image' });
export type Image = z.infer<typeof image>;
