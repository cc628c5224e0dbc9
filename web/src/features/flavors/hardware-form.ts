import { hardwareInput, memoryRefusal } from '../../../../src/modules/compute/contract/hardware';
import type { PageSize } from '../../../../src/modules/host/contract/page-sizes';
import type { Options } from '../../lib/command';
import type { CreateFlavor } from '../../lib/types';
import { checkBy } from '../../lib/validate';

/** What memory and vCPUs are: each empty, or off, for what the host does by itself. */
export interface HardwareDraft {
  pageSize: PageSize | '';
  sharedMemory: boolean;
  /** As it was typed. */
  cpuModel: string;
}

export const noHardware: HardwareDraft = { pageSize: '', sharedMemory: false, cpuModel: '' };

const checkModel = checkBy<string | null>(hardwareInput.unwrap().shape.cpuModel);

/** What is wrong, by member of the request; null where all is well. */
export const hardwareProblems = ({ cpuModel }: HardwareDraft): Record<string, string | null> => ({
  'hardware.cpuModel': cpuModel.trim() === '' ? null : checkModel(cpuModel.trim()),
});

/** Why so much memory cannot consist of its pages; null when it can. */
export const pagesProblem = ({ pageSize }: HardwareDraft, memoryBytes: number): string | null =>
  memoryRefusal(memoryBytes, pageSize === '' ? null : pageSize) ?? null;

/** The part of the request that asks for it, of a draft in which nothing is wrong. */
export const hardwareOfDraft = (draft: HardwareDraft): Pick<CreateFlavor, 'hardware'> => {
  const cpuModel = draft.cpuModel.trim();
  const hardware = {
    ...(draft.pageSize !== '' && { pageSize: draft.pageSize }),
    ...(draft.sharedMemory && { sharedMemory: true }),
    ...(cpuModel !== '' && { cpuModel }),
  };
  return Object.keys(hardware).length === 0 ? {} : { hardware };
};

/** The options of `vcctl flavor create` that ask for the same. */
export const hardwareOptions = ({ pageSize, sharedMemory, cpuModel }: HardwareDraft): Options => ({
  'page-size': pageSize,
  'shared-memory': sharedMemory,
  'cpu-model': cpuModel.trim(),
});
