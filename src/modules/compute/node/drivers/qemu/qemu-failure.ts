import type { PageSize } from '../../../../host/contract/page-sizes';
import { noHugePages } from '../common/huge-pages';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';

const patterns: { pattern: RegExp; code: string; permanent: boolean; text: string }[] = [
  {
    pattern: /Failed to (get|lock) .*(lock|byte)|Is another process using the image/,
    code: 'disk_locked',
    permanent: false,
    text: 'Another process holds a lock on a disk',
  },
  { pattern: /Could not open '.*': No such file/, code: 'disk_missing', permanent: true, text: 'A disk is not there' },
  {
    pattern: /could not configure \/dev\/net\/tun .*busy/i,
    code: 'tap_busy',
    permanent: false,
    text: 'Another process holds a tap',
  },
  {
    pattern: /could not (configure|open) \/dev\/net\/tun/,
    code: 'tap_failed',
    permanent: true,
    text: 'A tap cannot be opened',
  },
  {
    pattern: /unable to set guest cid: Address already in use/,
    code: 'vsock_cid_taken',
    permanent: false,
    text: "Others have the numbers that its guest's vsock was to have",
  },
  {
    pattern: /annot allocate memory|cannot set up guest memory|Insufficient free host memory pages/,
    code: 'out_of_memory',
    permanent: false,
    text: 'The host has no memory for the guest',
  },
];

/**
 * The reason of a failed start, from what QEMU wrote to its standard error. Unknown texts are permanent: QEMU refuses
 * options deterministically.
 * @param pageSize of the huge pages that its memory was to be of
 */
export const qemuStartFailure = (stderr: string, ended: string, pageSize?: PageSize): VerbFailure => {
  const known = patterns.find((p) => p.pattern.test(stderr));
  const detail =
    stderr
      .split('\n')
      .filter((line) => !line.includes('warning:'))
      .join(' ')
      .trim()
      .slice(-1000) || ended;
  if (known?.code === 'out_of_memory' && pageSize !== undefined) return noHugePages(pageSize, detail);
  return known
    ? new VerbFailure(known.code, `${known.text}.`, known.permanent, {}, { detail })
    : new VerbFailure('vmm_start_failed', 'QEMU did not start.', true, {}, { detail });
};
