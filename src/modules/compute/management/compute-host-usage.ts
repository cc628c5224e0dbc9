import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import { HostUsage } from '../../host/contract/host.ports';
import { InstanceRepository } from './instance.repository';

/** Keeps hosts from being removed under their instances. */
@injectable()
export class ComputeHostUsage extends HostUsage {
  readonly noun = 'instances';

  constructor(private readonly instances: InstanceRepository) {
    super();
  }

  override count(op: Op, hostId: string): Promise<number> {
    return this.instances.countOn(op, hostId);
  }
}
