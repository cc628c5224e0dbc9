import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';

const cpu = z.number().int().nonnegative();

/** A NUMA node of a host. Memory in bytes, 0 where it has none of its own. */
export const hostNode = z.object({
  /** As the kernel numbers it: numbers may have holes. */
  node: z.number().int().nonnegative(),
  memoryBytes: field.bytes,
  /** Of it, what consists of huge pages. */
  hugePagesBytes: field.bytes,
  /** The CPUs that its agent may use, those of one core together; none where the node has only memory. */
  cores: z.array(z.array(cpu)),
  /** Of these, those that are set aside for instances that get CPUs of their own. */
  dedicatedCpus: z.array(cpu),
  /** How far memory of other nodes is, as the firmware says: 10 is its own. */
  distances: z.array(z.object({ node: z.number().int().nonnegative(), distance: z.number().int().positive() })),
});
export type HostNode = z.infer<typeof hostNode>;

export interface CpuTopology {
  nodes: readonly HostNode[];
}

/** Those that instances share, and the host's own work with them. */
export const sharedCpus = ({ nodes }: CpuTopology): number[] =>
  nodes
    .flatMap(({ cores, dedicatedCpus }) => cores.flat().filter((one) => !dedicatedCpus.includes(one)))
    .sort((a, b) => a - b);

export const dedicatedCpus = ({ nodes }: CpuTopology): number[] =>
  nodes.flatMap((node) => node.dedicatedCpus).sort((a, b) => a - b);

/** What placement needs to know of a node. */
export interface NodeRoom {
  node: number;
  /** How many CPUs are set aside there. */
  dedicatedCpus: number;
  /** Without huge pages. */
  memoryBytes: number;
}

/** Of the nodes that have some set aside. */
export const roomOfNodes = (nodes: readonly HostNode[] = []): NodeRoom[] =>
  nodes.flatMap(({ node, dedicatedCpus: aside, memoryBytes, hugePagesBytes }) =>
    aside.length === 0
      ? []
      : [{ node, dedicatedCpus: aside.length, memoryBytes: Math.max(0, memoryBytes - hugePagesBytes) }],
  );
