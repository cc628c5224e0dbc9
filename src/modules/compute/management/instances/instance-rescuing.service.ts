import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Op } from '../../../../core/db/rows/op';
import { Hosts } from '../../../host/contract/host.ports';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Images } from '../../../image/contract/image.ports';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { Volumes } from '../../../storage/contract/storage.ports';
import { RescueInstanceWorkflow } from '../workflows/rescue-instance.workflow';
import { UnrescueInstanceWorkflow } from '../workflows/unrescue-instance.workflow';
import { refuseForeign, refuseUnbootable } from './bootable-image';
import { roomOf } from './claimed-room';
import { InstanceService } from './instance.service';
import type { Accepted } from './instance-task';
import { InstanceVerbs, type Of, powered } from './instance-verbs.service';

/** A temporary disk to boot from, for an instance that does not boot from its own any more. */
@injectable()
export class InstanceRescuing {
  constructor(
    private readonly found: InstanceService,
    private readonly images: Images,
    private readonly hosts: Hosts,
    private readonly verbs: InstanceVerbs,
    private readonly placement: Placement,
    private readonly volumes: Volumes,
    private readonly rescuing: RescueInstanceWorkflow,
    private readonly unrescuing: UnrescueInstanceWorkflow,
  ) {}

  /**
   * Of an instance that is stopped, or has failed. 409 `image_not_ready`, `no_room` and what the state machine says; 422
   * `other_architecture`, `other_firmware`, `other_vmm_of_image`.
   */
  async rescue(op: Op, of: Of, ref: string): Promise<Accepted> {
    const { access } = of.caller;
    const instance = await this.found.lockByRef(op, access, of.projectId, of.ref);
    const image = await this.images.requireReady(op, instance.projectId, ref);
    refuseForeign(instance, image);
    await this.verbs.refuse(op, instance, 'rescue');
    await refuseUnbootable(op, this.hosts, instance, image);
    const bytes = this.volumes.sizeFor(image.virtualBytes);
    const meanwhile = roomOf({ ...instance, diskBytes: instance.diskBytes + bytes });
    await this.placement.checkResize(op, instance.id, meanwhile, seesHosts(access.principal));
    const input = { imageId: image.id, volumeId: timeOrderedUuid(), bytes };
    return this.verbs.ask(op, of, 'rescue', instance, this.rescuing.definition, input, powered(instance, 'off'));
  }

  async unrescue(op: Op, of: Of): Promise<Accepted> {
    const instance = await this.found.lockByRef(op, of.caller.access, of.projectId, of.ref);
    const input = { graceSeconds: instance.stopGraceSeconds };
    return this.verbs.ask(op, of, 'unrescue', instance, this.unrescuing.definition, input, powered(instance, 'off'));
  }
}
