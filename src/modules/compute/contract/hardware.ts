import { z } from 'zod';
import { type PageSize, pageSizeNames, pageSizes } from '../../host/contract/page-sizes';
import type { VmmCapability } from './vmm-capabilities';

const pageSize = z.enum(pageSizeNames);
/** As VMMs call them: nothing in such a name ends a value on a command line. */
const cpuModel = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, { error: 'is the name of a CPU model, such as EPYC-Rome' });

const MiB = 1024 * 1024;

/** `dedicated`: each vCPU has a CPU of its host for itself. `shared`: all of the host's are for all of them. */
const cpuPolicies = ['shared', 'dedicated'] as const;
const numaNodes = z.number().int().min(1).max(16);

/** In requests: what the host does by itself where nothing is said. */
export const hardwareInput = z
  .strictObject({
    /** The guest's memory consists of huge pages of that size. Null: of pages as the host gives them. */
    pageSize: pageSize.nullable().default(null),
    /** Processes beside the VMM can be given the guest's memory. */
    sharedMemory: z.boolean().default(false),
    /** Of its vCPUs. Null: all that the host can give. */
    cpuModel: cpuModel.nullable().default(null),
    cpuPolicy: z.enum(cpuPolicies).default('shared'),
    /**
     * The guest sees so many NUMA nodes, which lie on as many of its host, with vCPUs and memory spread evenly. Null: one,
     * and its memory wherever there is some.
     */
    numaNodes: numaNodes.nullable().default(null),
  })
  .refine(({ cpuPolicy, numaNodes: nodes }) => nodes === null || cpuPolicy === 'dedicated', {
    path: ['numaNodes'],
    error: 'needs CPUs of its own (cpuPolicy dedicated)',
  })
  .refine(({ pageSize: size, numaNodes: nodes }) => nodes === null || size === null, {
    path: ['numaNodes'],
    error: 'cannot be had with huge pages, which hosts count in all and not by NUMA node',
  })
  .prefault({});
/** In answers: all of it. */
export const hardwareShown = z.object({
  pageSize: z.string().nullable(),
  sharedMemory: z.boolean(),
  cpuModel: z.string().nullable(),
  cpuPolicy: z.enum(cpuPolicies),
  numaNodes: z.number().int().nullable(),
});
/** In specifications for hosts, and on record: what is asked for, and nothing of the rest. */
export const hardwareAsked = z
  .object({ pageSize, sharedMemory: z.literal(true), cpuModel, cpuPolicy: z.literal('dedicated'), numaNodes })
  .partial();
export type Hardware = z.infer<typeof hardwareShown>;
export type AskedOfHardware = z.infer<typeof hardwareAsked>;

export const askedOfHardware = ({
  pageSize,
  sharedMemory,
  cpuModel,
  cpuPolicy,
  numaNodes: nodes,
}: z.infer<typeof hardwareInput>): AskedOfHardware => ({
  ...(pageSize !== null && { pageSize }),
  ...(sharedMemory && { sharedMemory }),
  ...(cpuModel !== null && { cpuModel }),
  ...(cpuPolicy === 'dedicated' && { cpuPolicy }),
  ...(nodes !== null && { numaNodes: nodes }),
});

export const shownOfHardware = (asked: AskedOfHardware): Hardware => ({
  pageSize: asked.pageSize ?? null,
  sharedMemory: asked.sharedMemory === true,
  cpuModel: asked.cpuModel ?? null,
  cpuPolicy: asked.cpuPolicy ?? 'shared',
  numaNodes: asked.numaNodes ?? null,
});

/** What is asked for, if anything; tasks from before there were such options have nothing. */
export const hardwareOf = ({ hardware }: { hardware?: AskedOfHardware | undefined }): { hardware?: AskedOfHardware } =>
  hardware === undefined || Object.keys(hardware).length === 0 ? {} : { hardware };

/** The capabilities that a VMM needs for it. */
export const capabilitiesForHardware = ({
  pageSize,
  sharedMemory,
  cpuModel,
  cpuPolicy,
  numaNodes: nodes,
}: AskedOfHardware): VmmCapability[] => [
  ...(pageSize === undefined ? [] : (['huge-pages'] as const)),
  ...(sharedMemory === true ? (['shared-memory'] as const) : []),
  ...(cpuModel === undefined ? [] : (['cpu-models'] as const)),
  ...(cpuPolicy === undefined ? [] : (['dedicated-cpus'] as const)),
  ...(nodes === undefined ? [] : (['numa-nodes'] as const)),
];

/** Why an instance cannot have so much memory of that kind, in words; undefined when it can. */
export const memoryRefusal = (memoryBytes: number, pageSize: PageSize | null | undefined): string | undefined =>
  pageSize != null && memoryBytes % pageSizes[pageSize] !== 0
    ? `With pages of ${pageSize} memory must be a multiple of ${pageSize}.`
    : undefined;

/** Of an instance that shall have both: a maximum of memory, and huge pages. */
export const hugePagesFixed =
  'Memory of huge pages does not grow while the instance runs: it can have no maximum of memory.';

/** Whether a VMM that has these models can give what is asked for, with all that makes the model. */
export const givesModel = (
  { cpuModels = [] }: { cpuModels?: readonly string[] | undefined },
  { cpuModel }: AskedOfHardware,
): boolean => cpuModel === undefined || cpuModels.includes(cpuModel);

export const modelInWords = ({ cpuModel = '' }: AskedOfHardware): string => `the CPU model ${cpuModel}`;

/** CPUs of the host that an instance of that size is to have for itself, as placement counts them; null: it shares. */
export const dedicatedCpusOf = ({
  vcpus,
  memoryBytes,
  hardware = {},
}: {
  vcpus: number;
  memoryBytes: number;
  hardware?: AskedOfHardware | undefined;
}): { count: number; numaNodes: number | null; memoryBytes: number } | null =>
  hardware.cpuPolicy === 'dedicated' ? { count: vcpus, numaNodes: hardware.numaNodes ?? null, memoryBytes } : null;

/** Why it cannot be spread evenly over so many NUMA nodes, in words; undefined when it can. */
export const numaRefusal = (
  { vcpus, memoryBytes }: { vcpus: number; memoryBytes: number },
  nodes: number | null,
): string | undefined =>
  nodes === null || (vcpus % nodes === 0 && memoryBytes % (nodes * MiB) === 0)
    ? undefined
    : `${vcpus} vCPUs and ${memoryBytes / MiB} MiB of memory cannot be spread evenly over ${nodes} NUMA nodes.`;

/** Which maximum of an instance cannot be, for its CPUs and its memory are its own; undefined when all can. */
export const fixedMaximum = (
  { maxVcpus, maxMemoryBytes }: { maxVcpus: number | null; maxMemoryBytes: number | null },
  { cpuPolicy, numaNodes: nodes }: AskedOfHardware,
): { field: 'maxVcpus' | 'maxMemoryBytes'; detail: string } | undefined => {
  if (cpuPolicy === 'dedicated' && maxVcpus !== null)
    return {
      field: 'maxVcpus',
      detail: 'With CPUs of its own it has one for each vCPU, and gets no more while it runs: leave the maximum out.',
    };
  if (nodes !== undefined && maxMemoryBytes !== null)
    return {
      field: 'maxMemoryBytes',
      detail: 'Its memory is bound to NUMA nodes, and does not grow while it runs: leave the maximum out.',
    };
  return undefined;
};
