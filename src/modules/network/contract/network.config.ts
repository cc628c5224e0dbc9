import { z } from 'zod';

/** Section `modules.network`. */
export const networkConfigSchema = z.strictObject({
  /** Node half: `linux` makes real networks; `simulated` accepts every document and touches nothing (scale tests). */
  driver: z.enum(['linux', 'simulated']).default('linux'),
  /**
   * Addresses of the links between a host and its router namespaces; no tenant network may overlap it. IPv4, /8 to /24.
   */
  linkPool: z
    .cidrv4()
    .refine((cidr) => Number(cidr.split('/')[1]) >= 8 && Number(cidr.split('/')[1]) <= 24, {
      error: 'between /8 and /24',
    })
    .default('100.64.0.0/16'),
  /**
   * What guests reach beyond their own networks, for all hosts; the same on every management process. By default no
   * address of the cloud's own hosts and nothing of the networks that a host is directly connected to, everything else
   * through the uplink's gateway.
   */
  guestEgress: z
    .strictObject({
      /** IPv4 in CIDR form that guests may reach although it is walled off, also by `deny`. */
      allow: z.array(z.cidrv4()).max(256).default([]),
      /** IPv4 in CIDR form that guests may not reach either. */
      deny: z.array(z.cidrv4()).max(256).default([]),
    })
    .prefault({}),
  /**
   * Node half: IPv4 address of this host towards the others, over which networks cross. Empty: that from which it reaches
   * management.
   */
  underlayAddress: z.union([z.literal(''), z.ipv4()]).default(''),
  /** UDP port over which networks cross, on all hosts. */
  overlayPort: z.number().int().min(1).max(65_535).default(4789),
  /** The most that there may be of security groups. */
  securityGroups: z
    .strictObject({
      rulesPerGroup: z.number().int().min(4).max(1000).default(100),
      groupsPerPort: z.number().int().min(1).max(32).default(5),
      groupsPerProject: z.number().int().min(1).max(1000).default(100),
    })
    .prefault({}),
  /** MTU of tenant networks, in bytes. The default leaves room for an overlay's header. */
  mtu: z.number().int().min(1280).max(9000).default(1450),
  /** Seconds before a released address may be given out again. */
  cooldownSeconds: z.number().int().min(0).max(86_400).default(60),
  /** Seconds between two looks of the node half at what is really there. */
  reconcileSeconds: z.number().int().min(1).max(3600).default(30),
});

export type NetworkConfig = z.output<typeof networkConfigSchema>;
