import type { InUseBy } from '../../../core/errors/in-use';
import type { Op } from '../../../core/db/rows/op';
import type { CpuTopology, NodeRoom } from './cpu-topology';
import type { HostState } from './host.api';
import type { HostParts, HostStore } from './host-needs';
import type { HugePages } from './page-sizes';
import type { Leftover } from './leftover';

/** What the scheduler needs of each host. */
export interface SchedulableHost {
  id: string;
  name: string;
  /** Where management reaches it: an IP address or a name. */
  address: string;
  state: HostState;
  schedulable: boolean;
  /** Why it is not schedulable, in words; empty when it is. */
  reason: string;
  architecture: string;
  /** That instances share. */
  vcpus: number;
  /** Its NUMA nodes that have CPUs set aside for instances of their own. */
  nodes: readonly NodeRoom[];
  /** Without huge pages. */
  memoryBytes: number;
  /** All that it has, also those in use. */
  hugePages: HugePages;
  /** Of all stores. */
  diskBytes: number;
  stores: readonly HostStore[];
  parts: HostParts;
  /** The revision up to which its agent understands each verb; null for an agent from before they were told. */
  verbs: Readonly<Record<string, number>> | null;
}

/** Port: read access of other modules to hosts (management half). */
export abstract class Hosts {
  abstract all(op: Op): Promise<SchedulableHost[]>;
  abstract byId(op: Op, id: string): Promise<SchedulableHost | undefined>;
  abstract names(op: Op, ids: string[]): Promise<Map<string, string>>;
}

/** What is known of a host's fitness; `type` has one owner that alone writes it. */
export interface HostConditionFact {
  type: string;
  status: 'true' | 'false' | 'unknown';
  /** CamelCase word for programs. */
  reason: string;
  /** Sentence for people. */
  message: string;
}

/**
 * Port: other modules tell operators what they know of a host (management half). Only the host module's own conditions
 * decide whether it takes instances.
 */
export abstract class HostConditionNotes {
  /**
   * Writes what differs, and locks the host's row then. `op` must be a transaction. Does nothing for a host that is
   * gone.
   */
  abstract note(op: Op, hostId: string, fact: HostConditionFact): Promise<void>;
}

/** Port that other modules implement (management half, any number of them): what keeps a host from being removed. */
export abstract class HostUsage {
  /** The first `limit` of those on the host, and how many there are. */
  abstract users(op: Op, hostId: string, limit: number): Promise<{ first: InUseBy[]; count: number }>;
}

/** What instances with CPUs of their own have claimed of a NUMA node. Memory, in bytes, of those that are bound to it. */
export interface ClaimedOfNode {
  cpus: number;
  memoryBytes: number;
}

/** What instances have claimed of a host. Memory and disk in bytes. */
export interface ClaimedRoom {
  /** Of those that instances share. */
  vcpus: number;
  /** By the number of the NUMA node; one without a claim may be missing. */
  nodes: Readonly<Record<string, ClaimedOfNode>>;
  /** Without huge pages. */
  memoryBytes: number;
  hugePages: HugePages;
  /** In all stores. */
  diskBytes: number;
  /** Bytes by the key of the store; one without a claim may be missing. */
  stores: Readonly<Record<string, number>>;
  /** How many hold a claim, those included that are about to come. */
  instances: number;
}

/** Port that the module implements which places instances (management half): how much of each host is claimed. */
export abstract class HostClaims {
  /** Hosts without a claim may be missing. */
  abstract claimed(op: Op, hostIds: string[]): Promise<Map<string, ClaimedRoom>>;
}

/** Port: the CPUs of this host (node half). */
export abstract class HostCpus {
  /** As it was a moment ago, at most a minute. */
  abstract topology(): Promise<CpuTopology>;
}

/**
 * Port: a module of the node half adds a part of the inventory under a name of its own. Its management half may judge it
 * (`InventoryPart`).
 */
export abstract class InventorySource {
  abstract readonly part: string;
  /** One entry, or a list of them. */
  abstract collect(): Promise<unknown>;
  /** Forgets what failed before, so that the next `collect` tries it again. */
  async retest(): Promise<void> {
    await Promise.resolve();
  }
}

/**
 * Port that other modules implement (management half, any number of them): what a part of the inventory says of the
 * host's fitness.
 */
export abstract class InventoryPart<T = unknown> {
  /** As the module's manifest and its `InventorySource` call it. */
  abstract readonly part: string;
  /**
   * The conditions that this module owns. @param complete false while parts of a restarted agent are still being collected
   */
  abstract conditions(entries: readonly T[], complete: boolean): HostConditionFact[];
}

/** What a source has found. */
export interface FoundLeftover extends Leftover {
  /**
   * Looks again, alone with what it may belong to, and removes it. Throws a permanent `VerbFailure`: `leftover_known`,
   * `leftover_changed`, `leftover_in_use`.
   */
  clear(): Promise<void>;
}

/**
 * Port: a module of the node half says which of its things lie on the host and belong to nothing that it has on record.
 * Whoever needs something of another module says so by its place in the order: they are cleared in the reverse order of
 * the modules, and of one source in the order in which it names them.
 */
export abstract class LeftoverSource {
  /** What it is called when it could not look. */
  abstract readonly name: string;
  /** Must end soon after the signal. What is being made or removed meanwhile is none. */
  abstract find(signal: AbortSignal): Promise<FoundLeftover[]>;
}

/**
 * Port that other modules implement (management half, any number of them): what a host has by right, whatever its agent
 * knows. By full id.
 */
export abstract class LeftoverClaims {
  /** All that may lie on the host. */
  abstract onHost(op: Op, hostId: string): Promise<string[]>;
  /** Which of these there are, on whichever host. */
  abstract existing(op: Op, ids: readonly string[]): Promise<string[]>;
}
