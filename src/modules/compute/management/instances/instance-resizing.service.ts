import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { unprocessable } from '../../../../core/errors/problem';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Projects } from '../../../identity/contract/identity.ports';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import type { FlavorEntity } from '../flavors/flavor.entity';
import { FlavorService } from '../flavors/flavor.service';
import { ResizeInstanceWorkflow } from '../workflows/resize-instance.workflow';
import type { InstanceEntity } from './instance.entity';
import { InstanceService } from './instance.service';
import type { Accepted } from './instance-task';
import { InstanceVerbs, type Of } from './instance-verbs.service';

/** Another flavor for an instance that is there. */
@injectable()
export class InstanceResizing {
  constructor(
    private readonly found: InstanceService,
    private readonly flavors: FlavorService,
    private readonly verbs: InstanceVerbs,
    private readonly placement: Placement,
    private readonly projects: Projects,
    private readonly resizing: ResizeInstanceWorkflow,
  ) {}

  /**
   * Of a stopped instance, on its own host. 422 `disk_would_shrink`, `other_vmm_of_flavor`; 409 `no_room` and what the
   * state machine says.
   */
  async resize(op: Op, of: Of, ref: string): Promise<Accepted> {
    const { access } = of.caller;
    const instance = await this.found.lockByRef(op, access, of.projectId, of.ref);
    const flavor = await this.flavors.require(op, ref);
    refuseUnfit(instance, flavor);
    const size = {
      vcpus: flavor.vcpus,
      memoryBytes: flavor.memoryBytes,
      // A flavor that leaves it to the image leaves it as it is.
      diskBytes: Math.max(flavor.diskBytes, instance.diskBytes),
    };
    const project = (await this.projects.names(op, [instance.projectId])).get(instance.projectId) ?? '';
    const input = { project, flavorId: flavor.id, flavorName: flavor.name, ...size };
    await this.verbs.refuse(op, instance, 'resize');
    await this.placement.checkResize(op, instance.id, size, seesHosts(access.principal));
    return this.verbs.ask(op, of, 'resize', instance, this.resizing.definition, input);
  }
}

const refuseUnfit = (instance: InstanceEntity, flavor: FlavorEntity): void => {
  if (flavor.diskBytes > 0 && flavor.diskBytes < instance.diskBytes)
    throw unprocessable(
      'body.flavor',
      'disk_would_shrink',
      `Its disk has ${instance.diskBytes} bytes and the flavor's ${flavor.diskBytes}: a disk never shrinks.`,
    );
  // Its machine keeps its kind: what its guest has found there it finds again.
  const vmm = instance.wantedVmm ?? instance.vmm;
  if (flavor.vmm !== null && vmm !== null && flavor.vmm !== vmm)
    throw unprocessable(
      'body.flavor',
      'other_vmm_of_flavor',
      `The flavor asks for ${flavor.vmm}, and the instance runs on ${vmm}: choose another flavor.`,
    );
};
