import { z } from 'zod';
import { type PageSize, pageSizeNames, pageSizes } from '../../host/contract/page-sizes';
import type { VmmCapability } from './vmm-capabilities';

const pageSize = z.enum(pageSizeNames);
/** As VMMs call them: nothing in such a name ends a value on a command line. */
const cpuModel = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, { error: 'is the name of a CPU model, such as EPYC-Rome' });

/** In requests: what the host does by itself where nothing is said. */
export const hardwareInput = z
  .strictObject({
    /** The guest's memory consists of huge pages of that size. Null: of pages as the host gives them. */
    pageSize: pageSize.nullable().default(null),
    /** Processes beside the VMM can be given the guest's memory. */
    sharedMemory: z.boolean().default(false),
    /** Of its vCPUs. Null: all that the host can give. */
    cpuModel: cpuModel.nullable().default(null),
  })
  .prefault({});
/** In answers: all of it. */
export const hardwareShown = z.object({
  pageSize: z.string().nullable(),
  sharedMemory: z.boolean(),
  cpuModel: z.string().nullable(),
});
/** In specifications for hosts, and on record: what is asked for, and nothing of the rest. */
export const hardwareAsked = z.object({ pageSize, sharedMemory: z.literal(true), cpuModel }).partial();
export type Hardware = z.infer<typeof hardwareShown>;
export type AskedOfHardware = z.infer<typeof hardwareAsked>;

export const askedOfHardware = ({
  pageSize,
  sharedMemory,
  cpuModel,
}: z.infer<typeof hardwareInput>): AskedOfHardware => ({
  ...(pageSize !== null && { pageSize }),
  ...(sharedMemory && { sharedMemory }),
  ...(cpuModel !== null && { cpuModel }),
});

export const shownOfHardware = (asked: AskedOfHardware): Hardware => ({
  pageSize: asked.pageSize ?? null,
  sharedMemory: asked.sharedMemory === true,
  cpuModel: asked.cpuModel ?? null,
});

/** What is asked for, if anything; tasks from before there were such options have nothing. */
export const hardwareOf = ({ hardware }: { hardware?: AskedOfHardware | undefined }): { hardware?: AskedOfHardware } =>
  hardware === undefined || Object.keys(hardware).length === 0 ? {} : { hardware };

/** The capabilities that a VMM needs for it. */
export const capabilitiesForHardware = ({ pageSize, sharedMemory, cpuModel }: AskedOfHardware): VmmCapability[] => [
  ...(pageSize === undefined ? [] : (['huge-pages'] as const)),
  ...(sharedMemory === true ? (['shared-memory'] as const) : []),
  ...(cpuModel === undefined ? [] : (['cpu-models'] as const)),
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
