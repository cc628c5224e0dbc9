import { injectable } from 'inversify';
import type { Op } from '../../../core/db/rows/op';
import type { InUseBy } from '../../../core/errors/in-use';
import { HostUsage } from '../../host/contract/host.ports';
import { VolumeRepository } from './volume.repository';

/** Keeps hosts from being removed under volumes; root volumes count as their instances. */
@injectable()
export class VolumeHostUsage extends HostUsage {
  constructor(private readonly volumes: VolumeRepository) {
    super();
  }

  override users(op: Op, hostId: string, limit: number): Promise<{ first: InUseBy[]; count: number }> {
    return this.volumes.onHost(op, hostId, limit);
  }
}
