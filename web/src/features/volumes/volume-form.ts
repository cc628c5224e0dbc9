import type { Options } from '../../lib/command';
import { parseBytes } from '../../lib/format';
import type { CreateVolume } from '../../lib/types';
import { createVolume } from '../../../../src/modules/storage/contract/storage.api';
import { checkBy, checkName } from '../../lib/validate';

/** What is filled in to create a volume: texts, as they were typed. */
export interface VolumeDraft {
  name: string;
  /** As text: `10 GiB`. */
  bytes: string;
  /** Name of the instance that it is for; empty: anywhere. */
  instance: string;
}

export const emptyVolume: VolumeDraft = { name: '', bytes: '10 GiB', instance: '' };

const checkSize = checkBy<number>(createVolume.shape.bytes, {
  not_multiple_of: 'Whole mebibytes only.',
  too_small: 'At least 1 MiB.',
  too_big: 'At most 64 TiB.',
});

/** What is wrong, by member of the request; null where all is well. */
export const problemsOf = (draft: VolumeDraft): Record<string, string | null> => {
  const bytes = parseBytes(draft.bytes, 'g');
  return { name: checkName(draft.name), bytes: bytes === null ? 'A size such as 10 GiB.' : checkSize(bytes) };
};

/** The request that the draft is; null while something is wrong. */
export const bodyOf = (draft: VolumeDraft): CreateVolume | null => {
  const bytes = parseBytes(draft.bytes, 'g');
  if (bytes === null || Object.values(problemsOf(draft)).some((p) => p !== null)) return null;
  return { name: draft.name, bytes, ...(draft.instance !== '' && { instance: draft.instance }) };
};

/** The options of `vcctl volume create` that ask for the same. */
export const commandOptions = ({ bytes, instance }: VolumeDraft): Options => ({
  size: bytes.replaceAll(' ', ''),
  instance,
});
