import { maximum } from '../../../../../src/modules/compute/contract/instance-maximum';
import { parseBytes } from '../../../lib/format';
import type { Flavor } from '../../../lib/types';
import { checkBy } from '../../../lib/validate';
import type { Draft } from './drafts';

type Typed = Pick<Draft, 'maxVcpus' | 'maxMemory'>;

const checkVcpus = checkBy<number>(maximum.maxVcpus, 'A whole number of at most 255.');
const checkMemory = checkBy<number>(maximum.maxMemoryBytes, {
  not_multiple_of: 'Whole mebibytes only.',
  too_small: 'At least 64 MiB.',
  too_big: 'At most 512 GiB.',
});

const vcpusOf = ({ maxVcpus }: Typed): number => (/^\d{1,15}$/.test(maxVcpus.trim()) ? Number(maxVcpus) : Number.NaN);

/** What is wrong with what was typed, by member of the request. */
export const maximumProblems = (
  draft: Typed,
  flavor: Flavor | undefined,
): { maxVcpus: string | null; maxMemoryBytes: string | null } => {
  const [vcpus, memory] = [vcpusOf(draft), parseBytes(draft.maxMemory, 'm')];
  const low = (has: number | undefined, most: number): string | null =>
    has !== undefined && most < has ? 'The flavor has more already.' : null;
  return {
    maxVcpus: draft.maxVcpus.trim() === '' ? null : (checkVcpus(vcpus) ?? low(flavor?.vcpus, vcpus)),
    maxMemoryBytes:
      draft.maxMemory.trim() === ''
        ? null
        : memory === null
          ? 'A size such as 512 MiB or 4 GiB.'
          : (checkMemory(memory) ?? low(flavor?.memoryBytes, memory)),
  };
};

/** Members of the request; without what was left empty. */
export const maximumOf = (draft: Typed): { maxVcpus?: number; maxMemoryBytes?: number } => {
  const memory = parseBytes(draft.maxMemory, 'm');
  return {
    ...(draft.maxVcpus.trim() === '' ? {} : { maxVcpus: vcpusOf(draft) }),
    ...(draft.maxMemory.trim() === '' || memory === null ? {} : { maxMemoryBytes: memory }),
  };
};
