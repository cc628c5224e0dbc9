import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import { ProjectUsage, type ResourceCount } from '../../identity/contract/identity.ports';
import { InstanceRepository } from './instance.repository';
import { SshKeyRepository } from './ssh-key.repository';

/** Keeps projects from being deleted under their instances and keys. */
@injectable()
export class ComputeProjectUsage extends ProjectUsage {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly keys: SshKeyRepository,
  ) {
    super();
  }

  override async resources(op: Op, projectId: string): Promise<ResourceCount[]> {
    return [
      { kind: 'instance', count: await this.instances.countIn(op, projectId) },
      { kind: 'ssh-key', count: await this.keys.count(op, projectId) },
    ];
  }
}
