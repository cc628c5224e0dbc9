import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, notFound } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { InstanceHosts } from '../../../storage/contract/storage.ports';
import { InstanceRepository } from './instance.repository';

/** Where instances are, for volumes that are to lie beside them. */
@injectable()
export class PlacedInstances extends InstanceHosts {
  constructor(private readonly instances: InstanceRepository) {
    super();
  }

  override async hostOf(op: Op, projectId: string, ref: string): Promise<string> {
    const found = looksLikeId(ref)
      ? await this.instances.byId(op, ref.toLowerCase())
      : (await this.instances.named(op, [projectId], ref))[0];
    if (!found || found.projectId !== projectId) throw notFound('instance', ref);
    if (found.hostId === null)
      throw conflict('instance_has_no_host', `The instance "${found.name}" has no host.`, { state: found.state });
    return found.hostId;
  }

  override async nameOf(op: Op, instanceId: string): Promise<string> {
    return (await this.instances.byId(op, instanceId))?.name ?? '';
  }
}
