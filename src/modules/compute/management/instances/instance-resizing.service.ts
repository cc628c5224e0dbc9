import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, unprocessable } from '../../../../core/errors/problem';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Projects } from '../../../identity/contract/identity.ports';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import type { FlavorEntity } from '../flavors/flavor.entity';
import { FlavorService } from '../flavors/flavor.service';
import { ResizeInstanceWorkflow } from '../workflows/resize-instance.workflow';
import { ResizeRunningInstanceWorkflow } from '../workflows/resize-running-instance.workflow';
import { runningResizeRefusal } from '../../contract/instance-size';
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
    private readonly resizingRunning: ResizeRunningInstanceWorkflow,
  ) {}

  /**
   * On its own host: of a stopped instance from its next start on, of one that runs at once. 422 `disk_would_shrink`,
   * `other_vmm_of_flavor`; 409 `resize_needs_stop` with the reason, `no_room` and what the state machine says.
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
    const { vcpus, memoryBytes, diskBytes } = size;
    const input = { project, flavorId: flavor.id, flavorName: flavor.name, vcpus, memoryBytes };
    await this.verbs.refuse(op, instance, 'resize');
    const runs = instance.state === 'running';
    const refusal = runs ? runningResizeRefusal(instance, size) : undefined;
    if (refusal) throw conflict(refusal.code, refusal.detail, { state: instance.state });
    await this.placement.checkResize(op, instance.id, size, seesHosts(access.principal));
    if (!runs) return this.verbs.ask(op, of, 'resize', instance, this.resizing.definition, { ...input, diskBytes });
    const next = { generation: instance.generation + 1 };
    return this.verbs.ask(op, of, 'resize', instance, this.resizingRunning.definition, input, next);
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
