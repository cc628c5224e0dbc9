import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import { conflict, notFound } from '../../../core/errors/problem';
import { looksLikeId } from '../../../core/http/routes/fields';
import type { Volume } from '../contract/storage.api';
import { DataVolumes, InstanceHosts, type AttachedVolume } from '../contract/storage.ports';
import { VolumeEvents } from './volume.events';
import { attachedElsewhere, rootVolume } from './volume-refusals';
import { VolumeRepository, type ShownVolume } from './volume.repository';

/** Attachments as recorded. What instances really have is their host's word, brought about by workflows of instances. */
@injectable()
export class PostgresDataVolumes extends DataVolumes {
  constructor(
    private readonly volumes: VolumeRepository,
    private readonly events: VolumeEvents,
    private readonly instances: InstanceHosts,
  ) {
    super();
  }

  override of(op: Op, instanceId: string): Promise<AttachedVolume[]> {
    return this.volumes.attachedTo(op, instanceId);
  }

  override async reserve(
    op: Op,
    instance: { id: string; projectId: string; hostId: string | null },
    { ref, readonly, most }: { ref: string; readonly: boolean; most: number },
  ): Promise<{ volumeId: string }> {
    const volume = await this.lock(op, instance.projectId, ref);
    if (volume.role !== 'data') throw rootVolume(volume);
    const [user] = volume.attachments;
    if (user) throw attachedElsewhere(volume, user.instanceId, await this.instances.nameOf(op, user.instanceId));
    if (volume.state !== 'available')
      throw conflict('volume_not_available', `The volume "${volume.name}" is ${volume.state}.`, {
        state: volume.state,
      });
    if (volume.hostId !== instance.hostId)
      throw conflict(
        'other_host',
        `The volume "${volume.name}" lies on another host than the instance: make one with its \`instance\`.`,
      );
    const taken = (await this.of(op, instance.id)).map(({ position }) => position);
    if (taken.length >= most) throw conflict('too_many_volumes', `An instance has ${most} volumes at most.`);
    const free = Array.from({ length: most }, (_, i) => i + 1).find((position) => !taken.includes(position));
    await this.volumes.attach(op, volume.id, instance.id, free ?? most, readonly);
    await this.become(op, volume.id, 'attaching');
    return { volumeId: volume.id };
  }

  override attached(op: Op, _instanceId: string, volumeId: string): Promise<void> {
    return this.become(op, volumeId, 'in-use');
  }

  override async leave(
    op: Op,
    instance: { id: string; projectId: string },
    ref: string,
  ): Promise<{ volumeId: string }> {
    const volume = await this.lock(op, instance.projectId, ref);
    if (!volume.attachments.some(({ instanceId }) => instanceId === instance.id)) throw notFound('volume', ref);
    await this.become(op, volume.id, 'detaching');
    return { volumeId: volume.id };
  }

  override async detached(op: Op, instanceId: string, volumeId: string): Promise<void> {
    if (await this.volumes.detach(op, volumeId, instanceId)) await this.become(op, volumeId, 'available');
  }

  override async detachedAll(op: Op, instanceId: string): Promise<void> {
    for (const { volumeId } of await this.of(op, instanceId)) await this.detached(op, instanceId, volumeId);
  }

  private async lock(op: Op, projectId: string, ref: string): Promise<ShownVolume> {
    const id = looksLikeId(ref) ? ref.toLowerCase() : (await this.volumes.named(op, [projectId], ref))[0]?.id;
    const volume = id === undefined ? null : await this.volumes.lock(op, id);
    if (!volume || volume.projectId !== projectId) throw notFound('volume', ref);
    return volume;
  }

  private async become(op: Op, volumeId: string, state: Volume['state']): Promise<void> {
    const volume = await this.volumes.change(op, volumeId, { state });
    if (volume) await this.events.changed(op, 'updated', volume);
  }
}
