import type { AttachedVolumes } from './attached-volumes';

export interface PoolVolume {
  path: string;
  format: 'raw';
  /** Size that the guest sees. */
  bytes: number;
}

/** What a pool holds under the name of a volume, finished or not. */
export interface PoolFile {
  volumeId: string;
  /** In the pool. */
  name: string;
  path: string;
  /** As of `fileMark`. */
  mark: string;
  modifiedAt: Date;
  /** What it takes on disk. */
  bytes: number;
}

/** Files that its guest boots by. */
export interface BootFiles {
  kernel: string;
  initramfs: string | null;
}

export interface EnsureVolume {
  volumeId: string;
  /** A multiple of 4096. */
  bytes: number;
  /** File whose content the volume starts with; null for an empty volume. */
  source: string | null;
  /** What lies beside a new volume for as long as it stands. */
  boot?: BootFiles | null;
  signal: AbortSignal;
}

/**
 * One pool on this host. Every driver passes `test/integration/storage/pool.contract.suite.ts`. Calls for one volume
 * come one at a time.
 */
export abstract class PoolDriver {
  abstract readonly name: string;
  /** As the inventory shows it. */
  abstract readonly kind: string;
  /** False: volumes have no bytes, and so need no source. */
  abstract readonly copies: boolean;
  /** Makes what is missing and removes what an interrupted run left. */
  abstract open(): Promise<void>;
  /**
   * The volume stands with at least `bytes`, and beside it the files that its guest boots by. A finished volume is never written again, only grown.
   * Throws `VerbFailure` `no_space` or `volume_too_small` with nothing left of it.
   */
  abstract ensure(request: EnsureVolume): Promise<PoolVolume>;
  /** Where those files of a volume lie that it was made with, readable and nobody's to write. */
  abstract bootFiles(volumeId: string): { kernel: string; initramfs: string };
  /** Nothing of the volume is left, whatever there was. Throws `VerbFailure` `volume_held` while an instance has it. */
  abstract absent(volumeId: string): Promise<void>;
  /** Null when there is no finished volume. */
  abstract find(volumeId: string): Promise<PoolVolume | null>;
  /** All that bears the name of a volume; what is called otherwise is not the pool's. */
  abstract files(): Promise<PoolFile[]>;
  /** Which instances of this host have which of its data volumes; how their VMMs come to see them. */
  abstract readonly attached: AttachedVolumes;
  /** Whether VMMs open the volumes by their paths, and so have to be shown the folder that they lie in. */
  abstract readonly opened: boolean;
  abstract capacity(): Promise<{ totalBytes: number; freeBytes: number }>;
}
