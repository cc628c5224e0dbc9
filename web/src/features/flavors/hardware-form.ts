import { hardwareInput, memoryRefusal, numaRefusal } from '../../../../src/modules/compute/contract/hardware';
import type { PageSize } from '../../../../src/modules/host/contract/page-sizes';
import type { Options } from '../../lib/command';
import type { CreateFlavor } from '../../lib/types';
import { checkBy, checkWhole } from '../../lib/validate';

/** What memory and vCPUs are: each empty, or off, for what the host does by itself. */
export interface HardwareDraft {
  pageSize: PageSize | '';
  sharedMemory: boolean;
  /** As it was typed. */
  cpuModel: string;
  dedicatedCpus: boolean;
  /** As it was typed. */
  numaNodes: string;
}

export const noHardware: HardwareDraft = {
  pageSize: '',
  sharedMemory: false,
  cpuModel: '',
  dedicatedCpus: false,
  numaNodes: '',
};

const { cpuModel: model, numaNodes: nodes } = hardwareInput.unwrap().shape;
const checkModel = checkBy<string | null>(model);
const checkNodes = checkWhole(nodes.unwrap().unwrap());

/** What is wrong, by member of the request; null where all is well. */
export const hardwareProblems = (draft: HardwareDraft): Record<string, string | null> => ({
  'hardware.cpuModel': draft.cpuModel.trim() === '' ? null : checkModel(draft.cpuModel.trim()),
  'hardware.numaNodes': draft.numaNodes.trim() === '' ? null : nodesProblem(draft),
});

const nodesProblem = ({ numaNodes, dedicatedCpus, pageSize }: HardwareDraft): string | null => {
  if (!dedicatedCpus) return 'Needs dedicated CPUs.';
  return pageSize === '' ? checkNodes(numaNodes.trim()) : 'Cannot be had with huge pages.';
};

/** Why it cannot be spread over its nodes; null when it can, or they are wrong anyway. */
export const spreadProblem = (draft: HardwareDraft, vcpus: number, memoryBytes: number): string | null =>
  draft.numaNodes.trim() === '' || nodesProblem(draft) !== null
    ? null
    : (numaRefusal({ vcpus, memoryBytes }, Number(draft.numaNodes)) ?? null);

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
    ...(draft.dedicatedCpus && { cpuPolicy: 'dedicated' as const }),
    ...(draft.numaNodes.trim() !== '' && { numaNodes: Number(draft.numaNodes) }),
  };
  return Object.keys(hardware).length === 0 ? {} : { hardware };
};

/** The options of `vcctl flavor create` that ask for the same. */
export const hardwareOptions = ({
  pageSize,
  sharedMemory,
  cpuModel,
  dedicatedCpus,
  numaNodes,
}: HardwareDraft): Options => ({
  'page-size': pageSize,
  'shared-memory': sharedMemory,
  'cpu-model': cpuModel.trim(),
  'cpu-policy': dedicatedCpus ? 'dedicated' : '',
  'numa-nodes': numaNodes.trim(),
});
