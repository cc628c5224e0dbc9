import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { driveForms } from '../../network/contract/drive-forms';
import { hardwareAsked } from './hardware';
import { limitsShown } from './limits';
import { machineAsked } from './machine-options';
import { restartPolicies } from './restart-policies';
import { sharesOfSpec } from './shares';

/** How a kernel is booted. */
const kernelAsked = z.object({ commandLine: z.string().max(2047), initramfs: z.boolean() });

/**
 * Sizes in bytes. Disks and ports refer to what `volume.ensure` and `network.apply` made. The first disk is booted from.
 */
export const instanceSpec = z.object({
  name: z.string(),
  vcpus: z.number().int().min(1),
  memoryBytes: field.bytes,
  /** The most that it may get while it runs. Absent: it stays as it is; sent only when there is one. */
  max: z.object({ vcpus: z.number().int().min(1), memoryBytes: field.bytes }).optional(),
  disks: z
    .array(
      z.object({
        volumeId: field.id,
        pool: z.string(),
        readonly: z.boolean(),
        /** It comes and goes while the machine runs. Absent: the machine keeps it for its life. */
        detachable: z.literal(true).optional(),
      }),
    )
    .min(1),
  ports: z.array(field.id),
  /** Null: the host's best. */
  vmm: z.string().max(63).nullable(),
  /**
   * Absent: whatever the VMM boots with. Sent only when the image asks for one, so that agents from before it know all
   * that they get.
   */
  firmware: z.enum(['bios', 'uefi']).optional(),
  /** A read-only disk with what the metadata service tells. Absent: none; sent only when there is one. */
  configDrive: z.enum(driveForms).optional(),
  /** Whether its host starts it again by itself after a failure. Absent: never; sent only when it does. */
  restartPolicy: z.enum(restartPolicies).optional(),
  /** What is asked of the machine itself. Absent: nothing; sent only when there is something. */
  machine: machineAsked.optional(),
  /** How fast its disks and cards are. Absent: as fast as they go; sent only when something is limited. */
  limits: limitsShown.optional(),
  /** What it is made of. Absent: as the host does by itself; sent only when something is asked for. */
  hardware: hardwareAsked.optional(),
  /**
   * The CPUs that it has for itself, by NUMA node of its host, and the memory that is bound to each where its guest has
   * nodes: the first of the guest lies on the first one here. Absent: it shares; sent only when it has some.
   */
  dedicatedCpus: z
    .array(z.object({ node: z.number().int().min(0), cpus: z.number().int().min(1), memoryBytes: field.bytes }))
    .min(1)
    .optional(),
  /**
   * Its first disk is a temporary one: after a restart of the host its machine stays off. Absent: it is not; sent only
   * when it is.
   */
  rescue: z.literal(true).optional(),
  /**
   * It boots by the kernel that the image of its first disk brought, and its initramfs. Absent: by what is on the disk;
   * sent only when there is one.
   */
  kernel: kernelAsked.optional(),
  /** Directories of its host that its guest can mount. Absent: none; sent only when there are some. */
  shares: sharesOfSpec.optional(),
});
export type InstanceSpec = z.infer<typeof instanceSpec>;
