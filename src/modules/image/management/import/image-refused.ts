export const refusals = [
  'image_empty',
  'image_truncated',
  'image_too_large',
  'image_corrupt',
  'image_encrypted',
  'invalid_header',
  'backing_file',
  'external_data_file',
  'unknown_features',
  'unsupported_format',
  'not_a_disk',
  'format_mismatch',
  'checksum_mismatch',
  'conversion_failed',
  'project_full',
  'not_a_kernel',
  'kernel_architecture',
  'not_an_initramfs',
] as const;

/** The bytes are not an image that we take. `code` is stable; the message is for the user. */
export class ImageRefused extends Error {
  constructor(
    readonly code: (typeof refusals)[number],
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'ImageRefused';
  }
}
