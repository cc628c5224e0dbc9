import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { pageQuery } from '../../../core/http/routes/pagination';
import type { InventoryTable } from '../../../core/m2m/reports/inventory-table';
import { hostNode } from './cpu-topology';

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
/** What a host reports of itself, without the parts of modules. Memory and disk in bytes. */
const machine = z.object({
  hostname: z.string(),
  kernel: z.string(),
  architecture: z.string(),
  cpu: z.object({
    model: z.string(),
    flags: z.array(z.string()),
    threads: z.number().int(),
    numaNodes: z.number().int(),
    /** Absent from agents that do not report it. */
    nodes: z.array(hostNode).max(1024).optional(),
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
  agentVersion: z.string(),
  /**
   * Control groups: version 2 and the controllers that instances can be limited with. Absent from agents that do not
   * report it.
   */
  cgroup: z.object({ version: z.number().int(), controllers: z.array(z.string()) }).optional(),
  /** False while parts are still being collected. */
  complete: z.boolean().optional(),
});
/** What is set aside of a NUMA node for instances with CPUs of their own, and what they have. Memory in bytes. */
const nodeCapacity = z.object({
  node: z.number().int(),
  dedicatedCpus: z.number().int(),
  dedicatedCpusUsed: z.number().int(),
  memoryBytes: field.bytes,
  /** That instances are bound to; others have their memory wherever there is some. */
  memoryBytesBound: field.bytes,
});
const capacity = z.object({
  vcpus: z.number().int(),
  vcpusUsed: z.number().int(),
  dedicatedCpus: z.number().int(),
  dedicatedCpusUsed: z.number().int(),
  nodes: z.array(nodeCapacity),
  /** Without huge pages. */
  memoryBytes: field.bytes,
  memoryBytesUsed: field.bytes,
  /** By the size of a page, where there are any. */
  hugePages: z.array(z.object({ size: z.string(), bytes: field.bytes, bytesUsed: field.bytes })),
  diskBytes: field.bytes,
  diskBytesUsed: field.bytes,
  instances: z.number().int(),
});
/** The disk by the stores of one part. */
const storeRoom = z.object({ name: z.string(), bytes: field.bytes, bytesUsed: field.bytes });
const host = z.object({
  id: field.id,
  name: z.string(),
  address: z.string(),
  state: z.enum(hostStates),
  schedulable: z.boolean(),
  conditions: z.array(condition),
  /** Circuit breaker of management's calls to it. */
  breaker: z.enum(['closed', 'open', 'half-open']),
  lastSeenAt: field.timestamp.nullable(),
  createdAt: field.timestamp,
});
/** With the room of the stores that the parts of modules are. */
const hostWithRoom = (parts: InventoryTable) => {
  const rooms = Object.entries(parts).flatMap(([part, { store }]) => (store ? [[part, z.array(storeRoom)]] : []));
  return host.extend({
    // By part: which ones there are is the modules' affair.
    capacity: capacity.extend(Object.fromEntries(rooms)) as unknown as z.ZodType<Capacity, Capacity>,
  });
};
export const hostWith = (parts: InventoryTable) => hostWithRoom(parts).meta({ id: 'Host' });
const withParts = (parts: InventoryTable, list: (entry: z.ZodType) => z.ZodType): z.ZodType<Inventory, Inventory> => {
  const lists = Object.entries(parts).map(([part, { entry }]) => [part, list(entry)]);
  // The parts' types are their modules' affair.
  return machine.extend(Object.fromEntries(lists)) as unknown as z.ZodType<Inventory, Inventory>;
};
/** As agents report it, with the parts that modules declare. An agent from before a part does not report it. */
export const inventoryWith = (parts: InventoryTable) => withParts(parts, (entry) => z.array(entry).default([]));
export const hostDetailWith = (parts: InventoryTable) =>
  hostWithRoom(parts)
    .extend({ inventory: withParts(parts, (entry) => z.array(entry)).nullable() })
    .meta({ id: 'HostDetail' });
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
/** Parts of modules have their name, and are lists. */
export type Inventory = MachineInventory & { [part: string]: unknown };
export type MachineInventory = z.infer<typeof machine>;
export type StoreRoom = z.infer<typeof storeRoom>;
/** The room of stores has the name of their part, and is a list of `StoreRoom`. */
type Capacity = z.infer<typeof capacity> & { [part: string]: unknown };
export type Host = z.infer<typeof host> & { capacity: Capacity };
export type HostDetail = Host & { inventory: Inventory | null };
