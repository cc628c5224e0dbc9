import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Op } from '../../../../core/db/rows/op';
import { unprocessable } from '../../../../core/errors/problem';
import { Hosts } from '../../../host/contract/host.ports';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Images, type UsableImage } from '../../../image/contract/image.ports';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { RebuildInstanceWorkflow } from '../workflows/rebuild-instance.workflow';
import { refuseForeign, refuseUnbootable } from './bootable-image';
import type { InstanceEntity } from './instance.entity';
import { roomOf } from './claimed-room';
import { InstanceService } from './instance.service';
import type { Accepted } from './instance-task';
import { InstanceVerbs, type Of } from './instance-verbs.service';

/** A new root disk for an instance that is there. */
@injectable()
export class InstanceRebuilding {
  constructor(
    private readonly found: InstanceService,
    private readonly images: Images,
    private readonly hosts: Hosts,
    private readonly verbs: InstanceVerbs,
    private readonly placement: Placement,
    private readonly rebuilding: RebuildInstanceWorkflow,
  ) {}

  /**
   * Of a stopped instance, from an image: its own when none is named. 422 `disk_too_small`, `other_architecture`,
   * `other_firmware`, `other_vmm_of_image`; 409 `no_room` and what the state machine says.
   */
  async rebuild(op: Op, of: Of, ref: string | undefined): Promise<Accepted> {
    const { access } = of.caller;
    const instance = await this.found.lockByRef(op, access, of.projectId, of.ref);
    const image = await this.images.requireReady(op, instance.projectId, ref ?? instance.imageId);
    refuseSmallDisk(instance, image);
    refuseForeign(instance, image);
    await this.verbs.refuse(op, instance, 'rebuild');
    await refuseUnbootable(op, this.hosts, instance, image);
    const meanwhile = roomOf({ ...instance, diskBytes: 2 * instance.diskBytes });
    await this.placement.checkResize(op, instance.id, meanwhile, seesHosts(access.principal));
    const input = { imageId: image.id, volumeId: timeOrderedUuid() };
    return this.verbs.ask(op, of, 'rebuild', instance, this.rebuilding.definition, input);
  }
}

const refuseSmallDisk = (instance: InstanceEntity, image: UsableImage): void => {
  if (image.virtualBytes > instance.diskBytes)
    throw unprocessable(
      'body.image',
      'disk_too_small',
      `The image needs ${image.virtualBytes} bytes and the disk has ${instance.diskBytes}: resize the instance first.`,
    );
};
