import { askOperator, type HintTable } from '../../../core/errors/problem-hints';

/** What to do about failures of images, by code. */
export const imageProblems: HintTable = {
  image_gone: { user: 'Choose another image, and try again.' },
  image_deleted: { user: 'Add the image again.' },
  image_not_cached: { user: 'Try again: the host fetches the image anew.' },
  download_failed: {
    user: askOperator,
    operator: 'Check the way from the host to management, and the room for images on the host.',
  },
  checksum_mismatch: { user: 'Get the image again from its source, and compare its checksum.' },
  size_mismatch: { user: 'Add the image again.' },
  url_not_allowed: { user: 'Give a public http or https address, or upload the image.' },
  url_credentials: { user: 'Give an address without user name and password, or upload the image.' },
  url_failed: { user: 'Check the address in a browser, or upload the image.' },
  import_failed: { user: askOperator, operator: 'The log of management has the details under this task.' },
  // Their messages say enough.
  backing_file: null,
  conversion_failed: null,
  external_data_file: null,
  fetch_crashed: null,
  format_mismatch: null,
  image_corrupt: null,
  image_empty: null,
  image_encrypted: null,
  image_too_large: null,
  image_truncated: null,
  invalid_header: null,
  kernel_architecture: null,
  not_a_disk: null,
  not_a_kernel: null,
  not_an_initramfs: null,
  project_full: null,
  unknown_features: null,
  unsupported_format: null,
  url_too_slow: null,
};
