import { z } from 'zod';
import { shareName } from './shares';

const milliseconds = z.number().int().min(0).max(600_000);

/** Section `modules.compute`. */
export const computeConfigSchema = z.strictObject({
  /**
   * Kinds of VMM that this host may use, besides being installed; the agent does not start with one that it has no driver
   * of.
   */
  drivers: z.array(z.string().min(1).max(63)).min(1).default(['cloud-hypervisor', 'qemu']),
  /**
   * `auto` boots a tiny guest under KVM to find out; `kvm` refuses to fall back; `tcg` is software emulation. QEMU
   * only.
   */
  accel: z.enum(['auto', 'kvm', 'tcg']).default('auto'),
  /** How long a detach waits for the guest to let the device go. */
  detachSeconds: z.number().int().min(1).max(300).default(30),
  /** How long a resize of a running instance waits for the guest to take or give memory, and to give vCPUs. */
  resizeSeconds: z.number().int().min(1).max(300).default(60),
  /** Instances that start at the same time after a restart of the host. */
  startsAtOnce: z.number().int().min(1).max(64).default(4),
  /**
   * How often an instance may fail and be started again (restart policy `on-failure`), and how often a guest may reset
   * itself before it is called a loop, within how many seconds.
   */
  restarts: z
    .strictObject({
      count: z.number().int().min(1).max(100).default(5),
      windowSeconds: z.number().int().min(1).max(86_400).default(600),
    })
    .prefault({}),
  /** Core dumps of guests, which lie in the state directory. */
  coreDumps: z
    .strictObject({
      /** Kept at most of each instance. */
      perInstance: z.number().int().min(1).max(100).default(3),
      /** What all of them may take on this host, in bytes; one that is made counts with all of its guest's memory. */
      hostBytes: z
        .number()
        .int()
        .min(0)
        .default(256 * 2 ** 30),
      /** What must stay free on their file system, in bytes, had a dump no zeros to leave out. */
      keepFreeBytes: z
        .number()
        .int()
        .min(0)
        .default(2 ** 30),
    })
    .prefault({}),
  cloudHypervisor: z
    .strictObject({
      /** Name on the PATH or absolute path. */
      binary: z.string().min(1).default('cloud-hypervisor'),
      /**
       * Firmware that boots the disk (`hypervisor-fw` or `CLOUDHV.fd`), absolute path. Empty, and without a kernel:
       * looked for in the usual places and beside the binary.
       */
      firmware: z.string().default(''),
      /** Kernel to boot directly where there is no firmware, absolute path; empty for none. */
      kernel: z.string().default(''),
      /** Command line of that kernel. */
      cmdline: z.string().default('console=ttyS0 root=/dev/vda rw'),
    })
    .prefault({}),
  qemu: z
    .strictObject({
      /** Name on the PATH or absolute path. */
      binary: z.string().min(1).default('qemu-system-x86_64'),
      /**
       * Instances may have a vsock where the kernel has one for them. Off by itself: its guests reach what any program of
       * the host listens with at AF_VSOCK, see docs/isolation.md.
       */
      vsock: z.boolean().default(false),
    })
    .prefault({}),
  /**
   * What gives guests directories of the host (the one in Rust, 1.10 or newer): name on the PATH or absolute path; empty:
   * looked for in the usual places.
   */
  virtiofsd: z.string().default(''),
  /** Directories of this host that instances may mount. */
  shares: z
    .array(
      z.strictObject({
        /** What users call it, and what guests mount it by. */
        name: shareName,
        /**
         * Of a directory, without a link in it. It belongs to a user that is not root: guests read and write by that user's
         * rights.
         */
        path: z.string().startsWith('/').max(4096),
        /** Ids of the projects whose instances may have it. A project's name is its own to change. */
        projects: z.array(z.uuid()).max(1000).default([]),
        /** Nobody's guest may write to it. */
        readonly: z.boolean().default(false),
      }),
    )
    .max(100)
    .refine((shares) => new Set(shares.map(({ name }) => name)).size === shares.length, 'two shares have one name')
    .default([]),
  /** The VMM without guests, for scale tests. */
  simulated: z
    .strictObject({
      /** How long a boot takes, in milliseconds. */
      bootMs: milliseconds.default(0),
      /** What the guest does at its power button: obeys after `powerOffMs`, or ignores it. */
      obeyPowerButton: z.boolean().default(true),
      powerOffMs: milliseconds.default(0),
      /** How long the guest takes to let a device go; more than `detachSeconds` allow: as good as never. */
      ejectMs: milliseconds.default(0),
    })
    .prefault({}),
});

export type ComputeConfig = z.output<typeof computeConfigSchema>;
