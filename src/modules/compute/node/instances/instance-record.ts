import { z } from 'zod';
import type { RecordForm } from '../../../../core/host/records/record-form';
import { limitsShown } from '../../contract/limits';
import { driveForms } from '../../../network/contract/drive-forms';
import { vmmExit } from '../drivers/vmm-exit';
import { guestLife, newGuest } from './guest-life';

const process = z.object({ pid: z.number().int(), startTime: z.string() });

/** What the instance is made of, as the host was told last. Sizes in bytes. */
const recordedSpec = z.object({
  name: z.string(),
  vcpus: z.number().int(),
  memoryBytes: z.number().int(),
  /** The most that it may get while it runs. Absent: it stays as it is. */
  max: z.object({ vcpus: z.number().int(), memoryBytes: z.number().int() }).optional(),
  disks: z.array(
    z.object({
      volumeId: z.string(),
      pool: z.string(),
      readonly: z.boolean(),
      detachable: z.literal(true).optional(),
    }),
  ),
  ports: z.array(z.string()),
  vmm: z.string().nullable(),
  firmware: z.enum(['bios', 'uefi']).optional(),
  configDrive: z.enum(driveForms).optional(),
  /** Whether the host starts it again by itself after a failure. Absent: never. */
  restartPolicy: z.enum(['never', 'on-failure']).optional(),
  machine: z
    .object({
      secureBoot: z.literal(true),
      tpm: z.literal(true),
      balloon: z.literal(true),
      vsock: z.literal(true),
      watchdog: z.enum(['restart', 'stop', 'notify']),
      panic: z.enum(['restart', 'stop', 'notify']),
    })
    .partial()
    .optional(),
  /** How fast its disks and cards are. Absent: as fast as they go. */
  limits: limitsShown.optional(),
  /** What its memory and vCPUs are. Absent: as the host does by itself. */
  hardware: z
    .object({
      pageSize: z.enum(['2MiB', '1GiB']),
      sharedMemory: z.literal(true),
      cpuModel: z.string(),
      cpuPolicy: z.literal('dedicated'),
      numaNodes: z.number().int(),
    })
    .partial()
    .optional(),
  /** How many CPUs it is to have for itself, by NUMA node of the host. Absent: it shares. */
  dedicatedCpus: z
    .array(z.object({ node: z.number().int(), cpus: z.number().int(), memoryBytes: z.number().int() }))
    .optional(),
  /** Its first disk is a temporary one: a restart of the host does not bring it back. */
  rescue: z.literal(true).optional(),
  /** The kernel that lies beside its first disk boots it. Absent: what is on the disk does. */
  kernel: z.object({ commandLine: z.string(), initramfs: z.boolean() }).optional(),
  /** Directories of the host, and the project that asks for them. Absent: none. */
  shares: z
    .object({ projectId: z.string(), wanted: z.array(z.object({ share: z.string(), readonly: z.boolean() })) })
    .optional(),
});

/** What the node remembers of an instance across restarts of the agent; one file per instance. */
const instanceRecord = z.object({
  instanceId: z.string(),
  /** Of the last accepted `instance.ensure`. */
  generation: z.number().int(),
  /** Counts the writes of this record. */
  revision: z.number().int().nonnegative().default(0),
  spec: recordedSpec,
  /** User id that its VMMs run as, from its first start until it is removed; 0 before. */
  user: z.number().int().nonnegative().default(0),
  /** The power state that was asked for last, by management or by the guest that powered itself off. */
  power: z.enum(['on', 'off']),
  /**
   * Set before a VMM is started and cleared with the handle: a leftover means that the agent died in between, and a
   * stray VMM may run.
   */
  starting: z.boolean(),
  handle: z
    .object({
      driver: z.string(),
      instanceId: z.string(),
      process,
      user: z.number().int().default(0),
      runDir: z.string(),
      logDir: z.string(),
      startedAt: z.string(),
      /** Programs beside it that its machine needs. */
      beside: z.array(z.object({ name: z.string(), process })).optional(),
    })
    .nullable(),
  /**
   * The CPUs that its machine has for itself, those of its first vCPUs first; a suspended one keeps them. Null: it shares,
   * or is off.
   */
  cpus: z
    .array(z.object({ node: z.number().int(), cpus: z.array(z.number().int()), memoryBytes: z.number().int() }))
    .nullable()
    .default(null),
  /** Those beside its machine that were seen to have ended although it runs. */
  lost: z.array(z.string()).default([]),
  /** Its vCPUs stand still, as its VMM said last. */
  paused: z.boolean().default(false),
  /** Cards that its guest was asked to let go and still had; it has them again should they go after all. */
  leaving: z.array(z.string()).default([]),
  /** Set before its size changes while it runs: a leftover means that the agent died in the midst of it. */
  resizing: z.boolean().default(false),
  /** A guest that was to give something back, and did not, may do it late: its machine is brought to its record again. */
  mayGiveLate: z.boolean().default(false),
  /** Bytes that its guest keeps while its balloon has the rest; null: all. Of the machine that runs, or is suspended. */
  balloonBytes: z.number().int().nullable().default(null),
  /** Set before that changes: a leftover means that the agent died in the midst of it. */
  ballooning: z.boolean().default(false),
  /** Set before a suspend: a leftover means that the agent died in the midst of it. */
  suspending: z.boolean().default(false),
  /** Set before its memory is dumped: a leftover means that the agent died in the midst of it. */
  dumping: z.boolean().default(false),
  /** Its memory is kept on disk, by this driver, and there is no VMM. */
  suspended: z.object({ driver: z.string() }).nullable().default(null),
  /** Of its last machine, also when the next one runs. */
  exit: vmmExit.nullable(),
  /** When the host noticed that end. */
  exitAt: z.string().nullable().default(null),
  /** Of the machine that runs, or ran last. */
  guest: guestLife.default(newGuest),
  /** When the host started it again by its policy, in milliseconds since 1970: those that may still count. */
  restarts: z.array(z.number()).default([]),
  /** When its last machine was started. */
  startedAt: z.string().nullable().default(null),
  /** Kernel boot in which it was last started: another one means that the host itself restarted. */
  bootId: z.string(),
});

export type InstanceRecord = z.infer<typeof instanceRecord>;

export const instanceForm: RecordForm<InstanceRecord> = {
  name: 'record of an instance',
  version: 1,
  schema: instanceRecord,
  upgrades: {},
};
