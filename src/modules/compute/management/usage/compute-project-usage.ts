import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { ProjectUsage, type OwnedResources } from '../../../identity/contract/identity.ports';
import { InstanceRepository } from '../instances/instance.repository';
import { SshKeyRepository } from '../ssh-keys/ssh-key.repository';

/** Keeps projects from being deleted under their instances and keys. */
@injectable()
export class ComputeProjectUsage extends ProjectUsage {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly keys: SshKeyRepository,
  ) {
    super();
  }

  override async resources(op: Op, projectId: string, limit: number): Promise<OwnedResources[]> {
    return [await this.instances.ofProject(op, projectId, limit), await this.keys.ofProject(op, projectId, limit)];
  }
}
