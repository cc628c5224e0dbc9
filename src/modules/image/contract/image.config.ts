import { z } from 'zod';

const mib = 1024 ** 2;
const gib = 1024 ** 3;

/** Section `modules.image`. Sizes in bytes. */
export const imageConfigSchema = z.strictObject({
  /** Largest upload or download. */
  maxBytes: z
    .number()
    .int()
    .min(4096)
    .default(64 * gib),
  /** Largest disk that an image may unfold to. */
  maxVirtualBytes: z
    .number()
    .int()
    .min(4096)
    .default(64 * gib),
  /** Largest kernel that an image may bring. */
  maxKernelBytes: z
    .number()
    .int()
    .min(4096)
    .default(128 * mib),
  /** Largest initramfs. It lies in the memory of each guest while it boots. */
  maxInitramfsBytes: z
    .number()
    .int()
    .min(512)
    .default(512 * mib),
  /**
   * Lets management fetch from loopback, link-local and private addresses. Off: users cannot reach into the operator's
   * network.
   */
  allowPrivateUrls: z.boolean().default(false),
  /**
   * Slowest sender of an upload or import that is borne, in bytes per second on average over `paceSeconds`; 0: any that
   * is not silent for so long.
   */
  minBytesPerSecond: z.number().int().min(0).default(16_384),
  /** Length of the window, in seconds. */
  paceSeconds: z.number().int().min(1).max(3600).default(60),
  /** What the images of one project may take on the disk, in bytes; holes do not count. */
  maxProjectBytes: z
    .number()
    .int()
    .min(4096)
    .default(1024 * gib),
  /**
   * Bytes of the images' disk that are left free, whatever is uploaded or unfolded: the database is often on the same
   * one.
   */
  reserveBytes: z
    .number()
    .int()
    .min(0)
    .default(2 * gib),
  /**
   * Imports under way at the same time, over all management processes; the others wait, each project in its turn.
   */
  imports: z.number().int().min(1).max(64).default(8),
  importsPerProject: z.number().int().min(1).max(64).default(2),
  /** Uploads that a project may have under way. */
  uploadsPerProject: z.number().int().min(1).max(1000).default(8),
  /**
   * Images that are checked, unfolded or hashed at the same time, in all; the others wait, each project in its turn.
   */
  workers: z.number().int().min(1).max(64).default(1),
  workersPerProject: z.number().int().min(1).max(64).default(1),
  /** Longest conversion, in seconds. */
  convertSeconds: z.number().int().min(1).max(86_400).default(1800),
  /** Address space that qemu-img may use. */
  convertMemoryBytes: z.number().int().min(268_435_456).default(gib),
  /** Node half: images kept in the cache of a host; the ones unused for longest go first. */
  cacheBytes: z
    .number()
    .int()
    .min(0)
    .default(100 * gib),
  /** Node half: `real` fetches images; `simulated` fetches nothing (scale tests). */
  nodeDriver: z.enum(['real', 'simulated']).default('real'),
});

export type ImageConfig = z.output<typeof imageConfigSchema>;
