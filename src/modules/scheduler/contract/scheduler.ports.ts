import type { Op } from '../../../core/db/rows/op';
import type { HostNeed } from '../../host/contract/host-needs';
import type { HugePages } from '../../host/contract/page-sizes';

/** What an instance needs of its host. Memory and disk in bytes. */
export interface PlacementRequest {
  instanceId: string;
  projectId: string;
  vcpus: number;
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

/** How large an instance is on its host. Memory and disk in bytes. */
export interface ClaimSize {
  vcpus: number;
  /** Without huge pages. */
  memoryBytes: number;
  /** Absent: none. */
  hugePages?: HugePages | undefined;
  diskBytes: number;
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
  /** Claims the best host. Idempotent per instance. Throws 409 `no_host` with `hosts` (the verdicts) when none fits. */
  abstract claim(op: Op, request: PlacementRequest): Promise<{ hostId: string }>;
  /**
   * Throws 409 `no_room` when the instance's host has not enough left for that size now. Who may see hosts (`operator`)
   * is told how much there is.
   */
  abstract checkResize(op: Op, instanceId: string, size: ClaimSize, operator: boolean): Promise<void>;
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
