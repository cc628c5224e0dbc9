import type { Op } from '../../../core/db/rows/op';

/** What an instance needs of its host. Memory and disk in bytes. */
export interface PlacementRequest {
  instanceId: string;
  projectId: string;
  vcpus: number;
  memoryBytes: number;
  diskBytes: number;
  /** That its disk lies in. */
  pool: string;
  architecture: string;
  /** What boots the image: a VMM of the host must have it. `any`: whatever the VMM has. */
  firmware: 'any' | 'bios' | 'uefi';
  /** Kind of VMM that its host must have; absent or null: any. */
  vmm?: string | null;
  /** Verbs that its host must understand, with the revision that says what is asked for. Absent: nothing special. */
  verbs?: Readonly<Record<string, number>>;
  /** Only this host (operators). */
  hostId?: string;
}

export interface HostVerdict {
  hostId: string;
  host: string;
  fits: boolean;
  /** Stable code of the filter that refused it, e.g. `not_ready`, `vcpus`, `memory`, `disk`, `no_vmm`, `vmm`, `firmware`, `pool`,
   * `outdated`. */
  code: string;
  reason: string;
}

/** Port: places instances and holds their claims. A claim counts against capacity until it is released. */
export abstract class Placement {
  /** Whether some host would have taken it a moment ago. False: `explain` says how it is now. */
  abstract fits(op: Op, request: PlacementRequest): Promise<boolean>;
  /** Judges every host as it is now, without claiming anything. */
  abstract explain(op: Op, request: PlacementRequest): Promise<HostVerdict[]>;
  /** Claims the best host. Idempotent per instance. Throws 409 `no_host` with `hosts` (the verdicts) when none fits. */
  abstract claim(op: Op, request: PlacementRequest): Promise<{ hostId: string }>;
  /** Ensures that the instance holds no claim. */
  abstract release(op: Op, instanceId: string): Promise<void>;
}
