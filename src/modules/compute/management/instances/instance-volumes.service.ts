import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { DataVolumes } from '../../../storage/contract/storage.ports';
import { type attachVolume, mostVolumes } from '../../contract/compute.api';
import { AttachVolumeWorkflow } from '../workflows/attach-volume.workflow';
import { DetachVolumeWorkflow } from '../workflows/detach-volume.workflow';
import { InstanceService } from './instance.service';
import type { Accepted } from './instance-task';
import { InstanceVerbs, type Of } from './instance-verbs.service';

/** Data volumes that instances get and lose. */
@injectable()
export class InstanceVolumes {
  constructor(
    private readonly found: InstanceService,
    private readonly verbs: InstanceVerbs,
    private readonly volumes: DataVolumes,
    private readonly attaching: AttachVolumeWorkflow,
    private readonly detaching: DetachVolumeWorkflow,
  ) {}

  /** One disk more. 404, 409 as `DataVolumes.reserve`, and what the state machine says. */
  async attach(
    op: Op,
    of: Of,
    { volume, readonly }: z.output<typeof attachVolume>,
  ): Promise<Accepted & { volumeId: string }> {
    const instance = await this.found.lockByRef(op, of.caller.access, of.projectId, of.ref);
    await this.verbs.refuse(op, instance, 'attach-volume');
    const { volumeId } = await this.volumes.reserve(op, instance, { ref: volume, readonly, most: mostVolumes });
    const next = { generation: instance.generation + 1 };
    const definition = this.attaching.definition;
    return { ...(await this.verbs.ask(op, of, 'attach-volume', instance, definition, { volumeId }, next)), volumeId };
  }

  /** One disk less. 404 for a volume that it does not have. */
  async detach(op: Op, of: Of, ref: string): Promise<Accepted> {
    const instance = await this.found.lockByRef(op, of.caller.access, of.projectId, of.ref);
    await this.verbs.refuse(op, instance, 'detach-volume');
    const { volumeId } = await this.volumes.leave(op, instance, ref);
    const next = { generation: instance.generation + 1 };
    return this.verbs.ask(op, of, 'detach-volume', instance, this.detaching.definition, { volumeId }, next);
  }
}
