import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Database } from '../../../../core/db/database';
import type { Op } from '../../../../core/db/rows/op';
import { NodeCaller, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import { Logging } from '../../../../core/telemetry/logging';
import { Hosts } from '../../../host/contract/host.ports';
import { volumeAbsent } from '../../../storage/contract/volume.verbs';
import { instanceAbsent } from '../../contract/instance.verbs';
import { InstanceEvents } from '../instances/instance.events';
import { InstanceRepository, type ObservedChange } from '../instances/instance.repository';
import { PeriodicWorks, type PeriodicWork } from '../../../../core/periodic/periodic-work';
import type { InstanceTombstoneEntity } from '../instances/instance-tombstone.entity';
import { InstanceTombstoneRepository } from '../instances/instance-tombstone.repository';

const everyMs = 2_000;
const deadlineMs = 300_000;
const batch = 50;

/**
 * Keeps instances true to their hosts: silent hosts make them `unknown`, and hosts that come back lose what was deleted
 * meanwhile.
 */
@injectable()
export class InstanceReconciler extends PeriodicWorks {
  private readonly log: Logger;
  /** Final refusals of a host, by instance. */
  private readonly refusals = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly instances: InstanceRepository,
    private readonly tombstones: InstanceTombstoneRepository,
    private readonly hosts: Hosts,
    private readonly nodes: NodeCaller,
    private readonly events: InstanceEvents,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('instance-reconciler');
  }

  override periodicWork(): PeriodicWork[] {
    const run = (signal: AbortSignal): Promise<void> => this.round(signal);
    return [{ name: 'compute.reconcile-instances', everyMs, scope: 'cluster', deadlineMs, run }];
  }

  private async round(signal: AbortSignal): Promise<void> {
    const hosts = await this.hosts.all(this.database.op);
    const silent = hosts.filter((h) => h.state === 'unknown').map((h) => h.id);
    const heard = hosts.filter((h) => h.state !== 'unknown').map((h) => h.id);
    if (silent.length > 0) await this.publish((op) => this.instances.markUnknown(op, silent));
    if (heard.length > 0) await this.publish((op) => this.instances.markKnown(op, heard));
    const reachable = new Set(heard);
    for (const tombstone of await this.tombstones.orphaned(this.database.op, batch)) {
      if (signal.aborted) return;
      if (!reachable.has(tombstone.hostId)) continue;
      try {
        const gone = await this.nodes.call(
          tombstone.hostId,
          instanceAbsent,
          { instanceId: tombstone.instanceId, generation: tombstone.generation },
          this.callFor(tombstone, 'vmm'),
        );
        if (!gone.done) continue;
        if (!(await this.removeVolumes(tombstone))) continue;
        await this.tombstones.done(this.database.op, tombstone.instanceId);
        this.refusals.delete(tombstone.instanceId);
        this.log.info(
          { instanceId: tombstone.instanceId, hostId: tombstone.hostId },
          'removed what a deleted instance had left on its host',
        );
      } catch (error) {
        if (error instanceof NodeVerbError && error.permanent)
          this.refusals.set(tombstone.instanceId, (this.refusals.get(tombstone.instanceId) ?? 0) + 1);
        this.log.warn(
          { err: error, instanceId: tombstone.instanceId, hostId: tombstone.hostId },
          'the host still has remains of a deleted instance',
        );
      }
    }
  }

  /** Both may be there no more. False while the host is still at it. */
  private async removeVolumes(tombstone: InstanceTombstoneEntity): Promise<boolean> {
    const { hostId, pool, volumeId, rescueVolumeId } = tombstone;
    const parts = [
      ['volume', volumeId],
      ['rescue-volume', rescueVolumeId],
    ] as const;
    for (const [part, id] of parts) {
      if (id === null || pool === null) continue;
      const call = this.callFor(tombstone, part);
      if (!(await this.nodes.call(hostId, volumeAbsent, { volumeId: id, pool }, call)).done) return false;
    }
    return true;
  }

  /**
   * The host answers a key that it knows from its journal: one that was answered is not done again, and only a final
   * refusal takes a new one. No task stands behind it, so there is no other worker to be fenced off.
   */
  private callFor(
    { instanceId }: InstanceTombstoneEntity,
    part: 'vmm' | 'volume' | 'rescue-volume',
  ): { key: string; fence: number } {
    return { key: `tombstone-${instanceId}/${part}/${this.refusals.get(instanceId) ?? 0}`, fence: 1 };
  }

  private async publish(change: (op: Op) => Promise<ObservedChange[]>): Promise<void> {
    await this.database.tx(async (op) => this.events.observed(op, await change(op)));
  }
}
