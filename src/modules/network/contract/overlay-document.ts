import { z } from 'zod';

/**
 * How ports of one network on different hosts are one segment. Whatever is not named does not cross: no broadcast, no
 * unknown address.
 */
export const networkOverlay = z.object({
  /** Virtual network identifier: the same for the network on all hosts, 24 bits. */
  vni: z.number().int().min(1).max(16_777_215),
  /** Ports of the network on other hosts. */
  remotes: z.array(
    z.object({
      mac: z.string().regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/),
      addresses: z.array(z.ipv4()),
      /** Underlay address of its host. */
      host: z.ipv4(),
    }),
  ),
});

/** How this host takes part in overlays. */
export const hostUnderlay = z.object({
  /** Its own address towards the other hosts. */
  address: z.ipv4(),
  /** UDP port of the overlay, the same on all hosts. */
  port: z.number().int().min(1).max(65_535),
});

export type NetworkOverlay = z.infer<typeof networkOverlay>;
export type HostUnderlay = z.infer<typeof hostUnderlay>;
