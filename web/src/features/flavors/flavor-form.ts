import type { Options } from '../../lib/command';
import { parseBytes } from '../../lib/format';
import type { CreateFlavor } from '../../lib/types';
import { checkName } from '../../lib/validate';

const mib = 1024 ** 2;

/** What is filled in to create a flavor: texts, as they were typed. */
export interface FlavorDraft {
  name: string;
  vcpus: string;
  memory: string;
  /** Empty: as large as the image. */
  disk: string;
  /** Kind of VMM; empty: the host chooses. */
  vmm: string;
  description: string;
}

export const emptyFlavor: FlavorDraft = { name: '', vcpus: '1', memory: '512 MiB', disk: '', vmm: '', description: '' };

const sizesOf = ({ memory, disk }: FlavorDraft) => ({
  memoryBytes: parseBytes(memory, 'm'),
  diskBytes: disk.trim() === '' ? 0 : parseBytes(disk, 'g'),
});
const checkWhole = (size: number): string | null => (size % mib === 0 ? null : 'Whole mebibytes only.');
const checkMemory = (size: number | null): string | null =>
  size === null ? 'A size such as 512 MiB or 4 GiB.' : size < 64 * mib ? 'At least 64 MiB.' : checkWhole(size);

/** What is wrong, by member of the request; null where all is well. */
export const problemsOf = (draft: FlavorDraft): Record<string, string | null> => {
  const { memoryBytes, diskBytes } = sizesOf(draft);
  const { vcpus } = draft;
  return {
    name: checkName(draft.name),
    vcpus: /^\d+$/.test(vcpus) && Number(vcpus) >= 1 && Number(vcpus) <= 1024 ? null : 'A whole number from 1 to 1024.',
    memoryBytes: checkMemory(memoryBytes),
    diskBytes: diskBytes === null ? 'A size such as 10 GiB.' : checkWhole(diskBytes),
  };
};

/** The request that the draft is; null while something is wrong. */
export const bodyOf = (draft: FlavorDraft): CreateFlavor | null => {
  const { memoryBytes, diskBytes } = sizesOf(draft);
  const wrong = Object.values(problemsOf(draft)).some((p) => p !== null);
  if (wrong || memoryBytes === null || diskBytes === null) return null;
  const { name, vcpus, description } = draft;
  const vmm = draft.vmm.trim();
  return {
    name,
    vcpus: Number(vcpus),
    memoryBytes,
    diskBytes,
    ...(vmm === '' ? {} : { vmm }),
    ...(description === '' ? {} : { description }),
  };
};

/** The options of `vcctl flavor create` that ask for the same. */
export const commandOptions = ({ vcpus, memory, disk, vmm, description }: FlavorDraft): Options => ({
  vcpus,
  memory: memory.replaceAll(' ', ''),
  disk: disk.replaceAll(' ', ''),
  vmm: vmm.trim(),
  description,
});
