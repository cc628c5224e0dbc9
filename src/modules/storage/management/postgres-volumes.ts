import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Access } from '../../../core/auth/access';
import { Config } from '../../../core/config/config';
import type { Op } from '../../../core/db/rows/op';
import { Outbox } from '../../../core/events/outbox';
import type { Page, PageRequest } from '../../../core/http/routes/pagination';
import { seesHosts } from '../../host/contract/sees-hosts';
import { Hosts } from '../../host/contract/host.ports';
import type { Volume } from '../contract/storage.api';
import type { StorageConfig } from '../contract/storage.config';
import { Volumes, type RootVolume } from '../contract/storage.ports';
import type { VolumeEntity } from './volume.entity';
import { VolumeRepository } from './volume.repository';

/** Disks work in blocks of 4 KiB at most: a size that is no multiple would lose its last sectors on such a disk. */
const blockBytes = 4096;

/** Volumes as recorded. Their bytes are made and removed by the node, in workflows of the instance. */
@injectable()
export class PostgresVolumes extends Volumes {
  constructor(
    private readonly volumes: VolumeRepository,
    private readonly hosts: Hosts,
    private readonly outbox: Outbox,
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
    const made: VolumeEntity = {
      ...request,
      id: timeOrderedUuid(),
      role: 'root',
      state: 'creating',
      bytes: this.sizeFor(request.bytes),
      pool: this.rootPool(),
      createdAt: new Date(),
    };
    if (await this.volumes.insertRoot(op, made)) {
      await this.changed(op, 'created', made);
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
    await this.changed(op, 'deleted', old);
    const made = { ...old, ...by, state: 'in-use' as const, createdAt: new Date() };
    await this.volumes.insertRoot(op, made);
    await this.changed(op, 'created', made);
    return { id: old.id, pool: old.pool };
  }

  override sizeFor(bytes: number): number {
    return Math.ceil(bytes / blockBytes) * blockBytes;
  }

  override async grown(op: Op, volumeId: string, bytes: number): Promise<void> {
    const volume = await this.volumes.change(op, volumeId, { bytes: this.sizeFor(bytes) });
    if (volume) await this.changed(op, 'updated', volume);
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
    await this.changed(op, 'deleted', root);
  }

  async list(op: Op, access: Access, request: PageRequest): Promise<Page<Volume>> {
    const page = await this.volumes.list(op, access.projects, request);
    const names = seesHosts(access.principal)
      ? await this.hosts.names(op, [...new Set(page.rows.map((v) => v.hostId))])
      : null;
    return { items: page.rows.map((v) => present(v, names)), next: page.next };
  }

  private async mark(op: Op, volumeId: string, state: VolumeEntity['state']): Promise<void> {
    const volume = await this.volumes.change(op, volumeId, { state });
    if (volume) await this.changed(op, 'updated', volume);
  }

  private async changed(op: Op, what: 'created' | 'updated' | 'deleted', volume: VolumeEntity): Promise<void> {
    // Events go to all who see the volume, and not all of them see hosts.
    const data = present(volume, null);
    await this.outbox.publish(op, {
      type: `volume.${what}`,
      projectId: volume.projectId,
      subject: { kind: 'volume', id: volume.id },
      data: { ...data },
    });
  }
}

/** @param hosts names by id; null for those who may not see hosts */
const present = (v: VolumeEntity, hosts: Map<string, string> | null): Volume => ({
  id: v.id,
  projectId: v.projectId,
  name: v.name,
  state: v.state,
  bytes: v.bytes,
  role: v.role,
  pool: v.pool,
  host: hosts && { id: v.hostId, name: hosts.get(v.hostId) ?? '' },
  instanceId: v.instanceId,
  imageId: v.imageId,
  createdAt: v.createdAt.toISOString(),
});
