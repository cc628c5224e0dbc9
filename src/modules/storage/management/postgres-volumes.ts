import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import { Config } from '../../../core/config/config';
import type { Op } from '../../../core/db/rows/op';
import type { StorageConfig } from '../contract/storage.config';
import { Volumes, type RootVolume } from '../contract/storage.ports';
import type { VolumeEntity } from './volume.entity';
import { VolumeEvents } from './volume.events';
import { VolumeRepository, type ShownVolume } from './volume.repository';

/** Disks work in blocks of 4 KiB at most: a size that is no multiple would lose its last sectors on such a disk. */
const blockBytes = 4096;

/** Volumes as recorded. Their bytes are made and removed by the node, in workflows of the instance. */
@injectable()
export class PostgresVolumes extends Volumes {
  constructor(
    private readonly volumes: VolumeRepository,
    private readonly events: VolumeEvents,
    private readonly config: Config,
  ) {
    super();
  }

  override rootPool(): string {
    return this.config.section<StorageConfig>('storage').rootPool;
  }

  override async createRoot(
    op: Op,
    request: { instanceId: string; projectId: string; name: string; hostId: string; imageId: string; bytes: number },
  ): Promise<RootVolume> {
    const made: ShownVolume = {
      ...request,
      id: timeOrderedUuid(),
      role: 'root',
      state: 'creating',
      bytes: this.sizeFor(request.bytes),
      pool: this.rootPool(),
      protected: false,
      createdAt: new Date(),
      attachments: [],
    };
    if (await this.volumes.insert(op, made)) {
      await this.events.changed(op, 'created', made);
      return made;
    }
    const root = await this.volumes.inRole(op, request.instanceId, 'root');
    if (!root) throw new Error(`the root volume of instance ${request.instanceId} vanished`);
    return root;
  }

  override rootOf(op: Op, instanceId: string): Promise<RootVolume | null> {
    return this.volumes.inRole(op, instanceId, 'root');
  }

  override async replaceRoot(
    op: Op,
    instanceId: string,
    by: { id: string; imageId: string },
  ): Promise<{ id: string; pool: string } | null> {
    const old = await this.volumes.inRole(op, instanceId, 'root');
    if (!old) return null;
    await this.volumes.remove(op, old.id);
    await this.events.changed(op, 'deleted', old);
    const made = { ...old, ...by, state: 'in-use' as const, createdAt: new Date() };
    await this.volumes.insert(op, made);
    await this.events.changed(op, 'created', made);
    return { id: old.id, pool: old.pool };
  }

  override async recordRescue(
    op: Op,
    { bytes, ...request }: { id: string; instanceId: string; imageId: string; bytes: number },
  ): Promise<RootVolume | null> {
    const root = await this.volumes.inRole(op, request.instanceId, 'root');
    if (!root) return null;
    const wanted = { role: 'rescue', state: 'creating', bytes: this.sizeFor(bytes), createdAt: new Date() } as const;
    const made: ShownVolume = { ...root, ...request, ...wanted, name: `${root.name} (rescue)` };
    if (!(await this.volumes.insert(op, made))) return this.rescueOf(op, request.instanceId);
    await this.events.changed(op, 'created', made);
    return made;
  }

  override rescueOf(op: Op, instanceId: string): Promise<RootVolume | null> {
    return this.volumes.inRole(op, instanceId, 'rescue');
  }

  override removeRescue(op: Op, instanceId: string): Promise<{ id: string; pool: string } | null> {
    return this.removeInRole(op, instanceId, 'rescue');
  }

  override sizeFor(bytes: number): number {
    return Math.ceil(bytes / blockBytes) * blockBytes;
  }

  override async grown(op: Op, volumeId: string, bytes: number): Promise<void> {
    const volume = await this.volumes.change(op, volumeId, { bytes: this.sizeFor(bytes) });
    if (volume) await this.events.changed(op, 'updated', volume);
  }

  override markInUse(op: Op, volumeId: string): Promise<void> {
    return this.mark(op, volumeId, 'in-use');
  }

  override markDeleting(op: Op, volumeId: string): Promise<void> {
    return this.mark(op, volumeId, 'deleting');
  }

  override async remove(op: Op, instanceId: string): Promise<void> {
    await this.removeInRole(op, instanceId, 'root');
    await this.removeInRole(op, instanceId, 'rescue');
  }

  private async removeInRole(op: Op, instanceId: string, role: 'root' | 'rescue'): Promise<ShownVolume | null> {
    const volume = await this.volumes.inRole(op, instanceId, role);
    if (!volume) return null;
    await this.volumes.remove(op, volume.id);
    await this.events.changed(op, 'deleted', volume);
    return volume;
  }

  private async mark(op: Op, volumeId: string, state: VolumeEntity['state']): Promise<void> {
    const volume = await this.volumes.change(op, volumeId, { state });
    if (volume) await this.events.changed(op, 'updated', volume);
  }
}
