import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';

const hostStates = [
  'discovered',
  'enrolling',
  'testing',
  'ready',
  'unknown',
  'degraded',
  'draining',
  'maintenance',
  'failed',
  'retired',
] as const;
export type HostState = (typeof hostStates)[number];

const condition = z
  .object({
    type: z.string(),
    status: z.enum(['true', 'false', 'unknown']),
    reason: z.string(),
    message: z.string(),
    since: field.timestamp,
  })
  .meta({ id: 'Condition' });
export const vmmInventory = z.object({
  /** `cloud-hypervisor`, `qemu`, `simulated`, or one that this build does not know. */
  kind: z.string().min(1).max(63),
  version: z.string(),
  /** kvm or tcg for QEMU; kvm for Cloud Hypervisor. */
  accel: z.string(),
  usable: z.boolean(),
  reason: z.string(),
  /** What operators should know although guests run on it. Absent when there is nothing. */
  warning: z.string().optional(),
  capabilities: z.array(z.string()),
});
export const poolInventory = z.object({
  name: z.string(),
  driver: z.string(),
  totalBytes: field.bytes,
  freeBytes: field.bytes,
});
/** What a host reports of itself. Memory and disk in bytes. */
export const inventory = z.object({
  hostname: z.string(),
  kernel: z.string(),
  architecture: z.string(),
  cpu: z.object({
    model: z.string(),
    flags: z.array(z.string()),
    threads: z.number().int(),
    numaNodes: z.number().int(),
  }),
  memory: z.object({
    totalBytes: field.bytes,
    hugepages: z.array(z.object({ sizeBytes: field.bytes, total: z.number().int(), free: z.number().int() })),
  }),
  disks: z.array(z.object({ name: z.string(), sizeBytes: field.bytes, model: z.string(), rotational: z.boolean() })),
  nics: z.array(
    z.object({
      name: z.string(),
      mac: z.string(),
      mtu: z.number().int(),
      speedMbit: z.number().int().nullable(),
      up: z.boolean(),
    }),
  ),
  pools: z.array(poolInventory),
  vmms: z.array(vmmInventory),
  agentVersion: z.string(),
  /**
   * Control groups: version 2 and the controllers that instances can be limited with. Absent from agents that do not
   * report it.
   */
  cgroup: z.object({ version: z.number().int(), controllers: z.array(z.string()) }).optional(),
  /** False while parts (VMM probes, pools) are still being collected. */
  complete: z.boolean().optional(),
});
export const host = z
  .object({
    id: field.id,
    name: z.string(),
    address: z.string(),
    state: z.enum(hostStates),
    schedulable: z.boolean(),
    conditions: z.array(condition),
    /** Circuit breaker of management's calls to it. */
    breaker: z.enum(['closed', 'open', 'half-open']),
    lastSeenAt: field.timestamp.nullable(),
    capacity: z.object({
      vcpus: z.number().int(),
      vcpusUsed: z.number().int(),
      memoryBytes: field.bytes,
      memoryBytesUsed: field.bytes,
      diskBytes: field.bytes,
      diskBytesUsed: field.bytes,
      /** The disk by storage pool. */
      pools: z.array(z.object({ name: z.string(), bytes: field.bytes, bytesUsed: field.bytes })),
      instances: z.number().int(),
    }),
    createdAt: field.timestamp,
  })
  .meta({ id: 'Host' });
export const hostDetail = host.extend({ inventory: inventory.nullable() }).meta({ id: 'HostDetail' });
/** The task that works on a host. */
export const hostTask = z.object({ taskId: field.id });
export const updateHost = z.strictObject({ maintenance: z.boolean().optional(), reason: field.description.optional() });
export const createHostToken = z.strictObject({ expiresInMinutes: z.number().int().min(1).max(1440).default(30) });
/** `token` carries the CA fingerprint and management's address; shown once, usable once. */
export const hostToken = z
  .object({ id: field.id, token: z.string(), expiresAt: field.timestamp, command: z.string() })
  .meta({ id: 'HostToken' });

export const hostListQuery = pageQuery.omit({ project: true }).extend({ state: z.enum(hostStates).optional() });
/** A token as it is listed: never its secret. `hostId` is the host that used it. */
export const hostTokenInfo = z
  .object({
    id: field.id,
    state: z.enum(['open', 'used', 'expired']),
    hostId: field.id.nullable(),
    createdBy: z.string(),
    createdAt: field.timestamp,
    expiresAt: field.timestamp,
    usedAt: field.timestamp.nullable(),
  })
  .meta({ id: 'HostTokenInfo' });

export type HostTokenInfo = z.infer<typeof hostTokenInfo>;
export type HostListQuery = z.infer<typeof hostListQuery>;
export type Inventory = z.infer<typeof inventory>;
export type PoolInventory = z.infer<typeof poolInventory>;
export type VmmInventory = z.infer<typeof vmmInventory>;
export type Host = z.infer<typeof host>;
export type HostDetail = z.infer<typeof hostDetail>;
