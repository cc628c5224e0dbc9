import type { Options } from '../../lib/command';
import { parseBytes } from '../../lib/format';
import type { CreateFlavor } from '../../lib/types';
import { createFlavor } from '../../../../src/modules/compute/contract/compute.api';
import {
  hardwareOfDraft,
  hardwareOptions,
  hardwareProblems,
  noHardware,
  pagesProblem,
  spreadProblem,
  type HardwareDraft,
} from './hardware-form';
import { limitOptions, limitProblems, limitsOfDraft, noLimits, type LimitsDraft } from './limits-form';
import { checkBy, checkDescription, checkName, checkWhole } from '../../lib/validate';

/** What is filled in to create a flavor: texts, as they were typed. */
export interface FlavorDraft extends LimitsDraft, HardwareDraft {
  name: string;
  vcpus: string;
  memory: string;
  /** Empty: as large as the image. */
  disk: string;
  /** Kind of VMM; empty: the host chooses. */
  vmm: string;
  description: string;
}

export const emptyFlavor: FlavorDraft = {
  name: '',
  vcpus: '1',
  memory: '512 MiB',
  disk: '',
  vmm: '',
  ...noLimits,
  ...noHardware,
  description: '',
};

const sizesOf = ({ memory, disk }: FlavorDraft) => ({
  memoryBytes: parseBytes(memory, 'm'),
  diskBytes: disk.trim() === '' ? 0 : parseBytes(disk, 'g'),
});
const { vcpus: vcpuCount, memoryBytes: memorySize, diskBytes: diskSize, vmm: vmmKind } = createFlavor.shape;
const checkVcpus = checkWhole(vcpuCount);
const wholeMebibytes = { not_multiple_of: 'Whole mebibytes only.' };
const checkMemory = checkBy<number>(memorySize, { ...wholeMebibytes, too_small: 'At least 64 MiB.' });
const checkDisk = checkBy<number>(diskSize, wholeMebibytes);
const checkVmm = checkBy<string | null>(vmmKind);

/** What is wrong, by member of the request; null where all is well. */
export const problemsOf = (draft: FlavorDraft): Record<string, string | null> => {
  const { memoryBytes, diskBytes } = sizesOf(draft);
  const vmm = draft.vmm.trim();
  const hardware = hardwareProblems(draft);
  return {
    name: checkName(draft.name),
    vcpus: checkVcpus(draft.vcpus),
    memoryBytes:
      memoryBytes === null
        ? 'A size such as 512 MiB or 4 GiB.'
        : (checkMemory(memoryBytes) ?? pagesProblem(draft, memoryBytes)),
    diskBytes: diskBytes === null ? 'A size such as 10 GiB.' : checkDisk(diskBytes),
    vmm: vmm === '' ? null : checkVmm(vmm),
    ...limitProblems(draft),
    ...hardware,
    'hardware.numaNodes': hardware['hardware.numaNodes'] ?? spreadProblem(draft, Number(draft.vcpus), memoryBytes ?? 0),
    description: checkDescription(draft.description),
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
    ...limitsOfDraft(draft),
    ...hardwareOfDraft(draft),
    ...(description === '' ? {} : { description }),
  };
};

/** The options of `vcctl flavor create` that ask for the same. */
export const commandOptions = ({ vcpus, memory, disk, vmm, description, ...draft }: FlavorDraft): Options => ({
  vcpus,
  memory: memory.replaceAll(' ', ''),
  disk: disk.replaceAll(' ', ''),
  vmm: vmm.trim(),
  ...limitOptions(draft),
  ...hardwareOptions(draft),
  description,
});
