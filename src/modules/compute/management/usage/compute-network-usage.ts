import { injectable } from 'inversify';
import type { InUseBy } from '../../../../core/errors/in-use';
import type { Op } from '../../../../core/db/rows/op';
import { NetworkUsage } from '../../../network/contract/network.ports';
import { InstanceRepository } from '../instances/instance.repository';

/** Keeps networks from being deleted under their instances, also those that are still being made. */
@injectable()
export class ComputeNetworkUsage extends NetworkUsage {
  constructor(private readonly instances: InstanceRepository) {
    super();
  }

  override users(
    op: Op,
    network: { id: string; projectId: string },
    limit: number,
  ): Promise<{ first: InUseBy[]; count: number }> {
    return this.instances.onNetwork(op, network, limit);
  }
}
