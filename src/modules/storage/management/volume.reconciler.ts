import { injectable } from 'inversify';
import type { Logger } from 'pino';
import { Database } from '../../../core/db/database';
import { NodeCaller, NodeVerbError } from '../../../core/m2m/management/node-caller';
import { PeriodicWorks, type PeriodicWork } from '../../../core/periodic/periodic-work';
import { Logging } from '../../../core/telemetry/logging';
import { Hosts } from '../../host/contract/host.ports';
import { volumeAbsent } from '../contract/volume.verbs';
import { VolumeTombstoneRepository } from './volume-tombstone.repository';

const everyMs = 2_000;
const deadlineMs = 300_000;
const batch = 50;

/** Hosts that come back lose the volumes that were deleted meanwhile. */
@injectable()
export class VolumeReconciler extends PeriodicWorks {
  private readonly log: Logger;
  /** Final refusals of a host, by volume. */
  private readonly refusals = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly tombstones: VolumeTombstoneRepository,
    private readonly hosts: Hosts,
    private readonly nodes: NodeCaller,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('volume-reconciler');
  }

  override periodicWork(): PeriodicWork[] {
    const run = (signal: AbortSignal): Promise<void> => this.round(signal);
    return [{ name: 'storage.reconcile-volumes', everyMs, scope: 'cluster', deadlineMs, run }];
  }

  private async round(signal: AbortSignal): Promise<void> {
    const left = await this.tombstones.orphaned(this.database.op, batch);
    if (left.length === 0) return;
    const heard = (await this.hosts.all(this.database.op)).filter((host) => host.state !== 'unknown');
    const reachable = new Set(heard.map(({ id }) => id));
    for (const { volumeId, hostId, pool } of left) {
      if (signal.aborted) return;
      if (!reachable.has(hostId)) continue;
      try {
        // No task stands behind it: the host answers a key that it knows, and only a final refusal takes a new one.
        const key = `tombstone-${volumeId}/volume/${this.refusals.get(volumeId) ?? 0}`;
        const gone = await this.nodes.call(hostId, volumeAbsent, { volumeId, pool }, { key, fence: 1 });
        if (!gone.done) continue;
        await this.tombstones.done(this.database.op, volumeId);
        this.refusals.delete(volumeId);
        this.log.info({ volumeId, hostId }, 'removed what a deleted volume had left on its host');
      } catch (error) {
        if (error instanceof NodeVerbError && error.permanent)
          this.refusals.set(volumeId, (this.refusals.get(volumeId) ?? 0) + 1);
        this.log.warn({ err: error, volumeId, hostId }, 'the host still has remains of a deleted volume');
      }
    }
  }
}
