import { injectable } from 'inversify';
import type { InUseBy } from '../../../../core/errors/in-use';
import type { Op } from '../../../../core/db/rows/op';
import { HostUsage } from '../../../host/contract/host.ports';
import { InstanceRepository } from '../instances/instance.repository';

/** Keeps hosts from being removed under their instances. */
@injectable()
export class ComputeHostUsage extends HostUsage {
  constructor(private readonly instances: InstanceRepository) {
    super();
  }

  override users(op: Op, hostId: string, limit: number): Promise<{ first: InUseBy[]; count: number }> {
    return this.instances.onHost(op, hostId, limit);
  }
}
