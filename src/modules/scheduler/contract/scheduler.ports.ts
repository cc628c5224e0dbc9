import type { Op } from '../../../core/db/rows/op';
import type { HostNeed } from '../../host/contract/host-needs';
import type { HugePages } from '../../host/contract/page-sizes';

/** CPUs that an instance is to have for itself. */
export interface WantedCpus {
  count: number;
  /** Over how many NUMA nodes of its host it is spread evenly, with its memory. Null: nothing is asked. */
  numaNodes: number | null;
  /** Bytes. */
  memoryBytes: number;
}

/** CPUs that an instance has for itself on one NUMA node of its host, and the memory (bytes) that is bound to it there. */
export interface CpuClaim {
  node: number;
  cpus: number;
  memoryBytes: number;
}

/** What an instance needs of its host. Memory and disk in bytes. */
export interface PlacementRequest {
  instanceId: string;
  projectId: string;
  /** Of those that instances share. */
  vcpus: number;
  /** Absent: it shares CPUs. */
  cpus?: WantedCpus;
  /** Without huge pages. */
  memoryBytes: number;
  /** Absent: none. */
  hugePages?: HugePages;
  diskBytes: number;
  /** Where its disk lies on the host: the key of a store, and what people call it. */
  store: { key: string; words: string };
  /** Null: any. */
  architecture: string | null;
  /** What the parts of its host must have, in the order in which a refusal names them. */
  needs: readonly HostNeed[];
  /** Verbs that its host must understand, with the revision that says what is asked for. Absent: nothing special. */
  verbs?: Readonly<Record<string, number>>;
  /** Only this host (operators). */
  hostId?: string;
}

/** What a disk needs that belongs to no instance. */
export interface DiskRequest extends Pick<PlacementRequest, 'store' | 'needs' | 'verbs' | 'hostId'> {
  volumeId: string;
  projectId: string;
  bytes: number;
}

/** How large an instance is on its host, but for CPUs that it has for itself. Memory and disk in bytes. */
export interface PlainSize {
  /** Of those that instances share. */
  vcpus: number;
  /** Without huge pages. */
  memoryBytes: number;
  /** Absent: none. */
  hugePages?: HugePages | undefined;
  diskBytes: number;
}

export interface ClaimSize extends PlainSize {
  /** The CPUs that it has for itself. Absent: those that it has, and when there are any, `vcpus` says nothing. */
  cpus?: readonly CpuClaim[];
}

export interface HostVerdict {
  hostId: string;
  host: string;
  fits: boolean;
  /** Stable code of what refused it: `not_ready`, `vcpus`, `memory`, `huge_pages`, `disk`, `outdated`, `architecture`, or that of a need. */
  code: string;
  reason: string;
  /** What tenants are told when all hosts are refused by it. */
  saying?: string;
}

/** Port: places instances and holds their claims. A claim counts against capacity until it is released. */
export abstract class Placement {
  /** Whether some host would have taken it a moment ago. False: `explain` says how it is now. */
  abstract fits(op: Op, request: PlacementRequest): Promise<boolean>;
  /** Judges every host as it is now, without claiming anything. */
  abstract explain(op: Op, request: PlacementRequest): Promise<HostVerdict[]>;
  /**
   * Claims the best host, and there the CPUs that it has for itself, if it asks for some. Idempotent per instance. Throws
   * 409 `no_host` with `hosts` (the verdicts) when none fits.
   */
  abstract claim(op: Op, request: PlacementRequest): Promise<{ hostId: string }>;
  /** The CPUs that it has for itself; none for one that shares. */
  abstract cpusOf(op: Op, instanceId: string): Promise<CpuClaim[]>;
  /**
   * Which CPUs of its host it could have for itself instead of those that it has. `op` must be a transaction, which keeps
   * others from taking them: `resize` in it gets them. None where none is asked for; throws as `checkResize`.
   */
  abstract otherCpus(op: Op, instanceId: string, wanted: WantedCpus | null): Promise<CpuClaim[]>;
  /**
   * Throws 409 `no_room` when the instance's host has not enough left for that size now. Who may see hosts (`operator`)
   * is told how much there is. `cpus`: as `otherCpus`, null for none; absent: it keeps those that it has.
   */
  abstract checkResize(
    op: Op,
    instanceId: string,
    size: PlainSize & { cpus?: WantedCpus | null },
    operator: boolean,
  ): Promise<void>;
  /**
   * Changes the instance's claim on its host; one guarded statement, so that of parallel ones none takes another's
   * room. What does not grow is never refused. Without a claim nothing happens. Throws as `checkResize`.
   */
  abstract resize(op: Op, instanceId: string, size: ClaimSize): Promise<void>;
  /** Ensures that the instance holds no claim. */
  abstract release(op: Op, instanceId: string): Promise<void>;
  /**
   * Claims room for a disk on the best host. Throws as `claim`, 409 `no_host`; who may see hosts (`operator`) is told the
   * reasons.
   */
  abstract claimDisk(op: Op, request: DiskRequest, operator: boolean): Promise<{ hostId: string }>;
  /** Ensures that the disk holds no claim. */
  abstract releaseDisk(op: Op, volumeId: string): Promise<void>;
}
