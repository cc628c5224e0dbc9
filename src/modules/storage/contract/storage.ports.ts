import type { Op } from '../../../core/db/rows/op';

export interface RootVolume {
  id: string;
  pool: string;
  bytes: number;
  hostId: string;
}

/** Port (management half): root volumes live and die with their instance. */
export abstract class Volumes {
  /** Name of the pool that root volumes are made in, on whichever host. */
  abstract rootPool(): string;
  /** Records the root volume of an instance on a host, state `creating`. Idempotent per instance. */
  abstract createRoot(
    op: Op,
    request: { instanceId: string; projectId: string; name: string; hostId: string; imageId: string; bytes: number },
  ): Promise<RootVolume>;
  abstract rootOf(op: Op, instanceId: string): Promise<RootVolume | null>;
  /**
   * Another volume of the same size, which was made beside it, becomes the root volume; the instance's old one is no
   * record any more. Null when there is none to replace.
   */
  abstract replaceRoot(
    op: Op,
    instanceId: string,
    by: { id: string; imageId: string },
  ): Promise<{ id: string; pool: string } | null>;
  /**
   * Records a temporary volume beside the root volume, state `creating`, where that one lies: what the instance boots
   * from while it is in rescue. Null without a root volume. Idempotent per instance.
   */
  abstract recordRescue(
    op: Op,
    request: { id: string; instanceId: string; imageId: string; bytes: number },
  ): Promise<RootVolume | null>;
  abstract rescueOf(op: Op, instanceId: string): Promise<RootVolume | null>;
  /** The temporary volume is no record any more. Null when there is none. */
  abstract removeRescue(op: Op, instanceId: string): Promise<{ id: string; pool: string } | null>;
  /** How many bytes a volume has that is to hold so many. */
  abstract sizeFor(bytes: number): number;
  /** The node reported it that large. */
  abstract grown(op: Op, volumeId: string, bytes: number): Promise<void>;
  /** The node reported it made. */
  abstract markInUse(op: Op, volumeId: string): Promise<void>;
  abstract markDeleting(op: Op, volumeId: string): Promise<void>;
  /** Removes the records of all its volumes; the bytes are gone by then, or somebody has noted that they are to go. */
  abstract remove(op: Op, instanceId: string): Promise<void>;
}

/** A data volume that an instance has, or is about to have. */
export interface AttachedVolume {
  volumeId: string;
  pool: string;
  /** Which disk of the instance, from 1. */
  position: number;
  readonly: boolean;
}

/** Port (management half): which instance has which data volumes. Its callers hold the instance. */
export abstract class DataVolumes {
  /** Those of the instance, in the order of their positions. */
  abstract of(op: Op, instanceId: string): Promise<AttachedVolume[]>;
  /**
   * Reserves the volume of the project that `ref` (id or name) means for the instance, state `attaching`. Throws 404; 409
   * `root_volume`, `volume_in_use`, `volume_not_available`, `other_host`, `too_many_volumes`.
   * @param most an instance has at most
   */
  abstract reserve(
    op: Op,
    instance: { id: string; projectId: string; hostId: string | null },
    request: { ref: string; readonly: boolean; most: number },
  ): Promise<{ volumeId: string }>;
  /** Its host reported it there. */
  abstract attached(op: Op, instanceId: string, volumeId: string): Promise<void>;
  /** The instance is about to lose the volume that `ref` means, state `detaching`. Throws 404 when it has none such. */
  abstract leave(op: Op, instance: { id: string; projectId: string }, ref: string): Promise<{ volumeId: string }>;
  /** The instance has it no more; nothing happens when it has not. */
  abstract detached(op: Op, instanceId: string, volumeId: string): Promise<void>;
  /** As `detached`, of all that it has. */
  abstract detachedAll(op: Op, instanceId: string): Promise<void>;
}

/** Port that the module of instances implements (management half): where a volume must lie that one of them is to have. */
export abstract class InstanceHosts {
  /**
   * Host of the instance of the project that `ref` (id or name) means. Throws 404; 409 `instance_has_no_host`.
   */
  abstract hostOf(op: Op, projectId: string, ref: string): Promise<string>;
  /** Empty when it is gone. */
  abstract nameOf(op: Op, instanceId: string): Promise<string>;
}

/** Port (node half). */
export abstract class VolumePaths {
  /**
   * Absolute path and format of a volume that `volume.ensure` made. The format comes from here and never from probing
   * guest data.
   */
  abstract locate(volumeId: string, pool: string): Promise<{ path: string; format: 'raw'; bytes: number }>;
  /**
   * Where the kernel and the initramfs lie that the volume's image brought, when it did. They are there for as long as
   * the volume is, and nobody's to write.
   */
  abstract bootFiles(volumeId: string, pool: string): { kernel: string; initramfs: string };
  /** Folders in which the disks of an instance appear that it gets while it runs; made, one for each pool. */
  abstract folders(instanceId: string): Promise<string[]>;
  /**
   * The instance has the data volume: where its VMM opens it, in one of its `folders`. Idempotent. Throws `VerbFailure`
   * `volume_not_found`; `volume_held` while another instance of this host has it.
   */
  abstract attach(
    instanceId: string,
    volume: { volumeId: string; pool: string },
  ): Promise<{ path: string; format: 'raw'; bytes: number }>;
  /** Of its data volumes the instance has these still, and no others. */
  abstract keepOnly(instanceId: string, volumeIds: readonly string[]): Promise<void>;
  /** It has none any more, and no folder for them. */
  abstract forget(instanceId: string): Promise<void>;
}

/** Port that other modules implement (node half, any number of them): what this host's records say of volumes. */
export abstract class VolumeUse {
  /** Whether something on record here has the volume. */
  abstract uses(volumeId: string): boolean;
}
