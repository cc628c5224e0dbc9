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
    const root = await this.volumes.rootOf(op, request.instanceId);
    if (!root) throw new Error(`the root volume of instance ${request.instanceId} vanished`);
    return root;
  }

  override rootOf(op: Op, instanceId: string): Promise<RootVolume | null> {
    return this.volumes.rootOf(op, instanceId);
  }

  override async replaceRoot(
    op: Op,
    instanceId: string,
    by: { id: string; imageId: string },
  ): Promise<{ id: string; pool: string } | null> {
    const old = await this.volumes.rootOf(op, instanceId);
    if (!old) return null;
    await this.volumes.remove(op, old.id);
    await this.events.changed(op, 'deleted', old);
    const made = { ...old, ...by, state: 'in-use' as const, createdAt: new Date() };
    await this.volumes.insert(op, made);
    await this.events.changed(op, 'created', made);
    return { id: old.id, pool: old.pool };
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
    const root = await this.volumes.rootOf(op, instanceId);
    if (!root) return;
    await this.volumes.remove(op, root.id);
    await this.events.changed(op, 'deleted', root);
  }

  private async mark(op: Op, volumeId: string, state: VolumeEntity['state']): Promise<void> {
    const volume = await this.volumes.change(op, volumeId, { state });
    if (volume) await this.events.changed(op, 'updated', volume);
  }
}
