import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Op } from '../../../../core/db/rows/op';
import { unprocessable } from '../../../../core/errors/problem';
import { Hosts } from '../../../host/contract/host.ports';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Images, type UsableImage } from '../../../image/contract/image.ports';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { vmmNeeds } from '../vmms/vmm-needs';
import { RebuildInstanceWorkflow } from '../workflows/rebuild-instance.workflow';
import type { InstanceEntity } from './instance.entity';
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
    refuseUnfit(instance, image);
    await this.verbs.refuse(op, instance, 'rebuild');
    await this.refuseUnbootable(op, instance, image);
    const { vcpus, memoryBytes, diskBytes } = instance;
    const meanwhile = { vcpus, memoryBytes, diskBytes: 2 * diskBytes };
    await this.placement.checkResize(op, instance.id, meanwhile, seesHosts(access.principal));
    const input = { imageId: image.id, volumeId: timeOrderedUuid() };
    return this.verbs.ask(op, of, 'rebuild', instance, this.rebuilding.definition, input);
  }

  /** It stays on its host, whatever boots the image. */
  private async refuseUnbootable(op: Op, instance: InstanceEntity, image: UsableImage): Promise<void> {
    const host = instance.hostId === null ? undefined : await this.hosts.byId(op, instance.hostId);
    const needs = vmmNeeds({ vmm: instance.wantedVmm, firmware: image.firmware, machine: instance.machine });
    if (host && needs.some((need) => need.code === 'firmware' && need.refuses(host.parts) !== undefined))
      throw unprocessable('body.image', 'other_firmware', 'Its host cannot boot the image: choose another one.');
  }
}

const refuseUnfit = (instance: InstanceEntity, image: UsableImage): void => {
  if (image.virtualBytes > instance.diskBytes)
    throw unprocessable(
      'body.image',
      'disk_too_small',
      `The image needs ${image.virtualBytes} bytes and the disk has ${instance.diskBytes}: resize the instance first.`,
    );
  if (image.architecture !== instance.architecture)
    throw unprocessable(
      'body.image',
      'other_architecture',
      `The image is for ${image.architecture}, and the instance for ${instance.architecture}.`,
    );
  if (instance.machine.secureBoot === true && image.firmware === 'bios')
    throw unprocessable(
      'body.image',
      'secure_boot_needs_uefi',
      'The image boots by BIOS, and the instance starts only what is signed: choose another image.',
    );
  const vmm = instance.wantedVmm ?? instance.vmm;
  if (image.vmm !== null && vmm !== null && image.vmm !== vmm)
    throw unprocessable(
      'body.image',
      'other_vmm_of_image',
      `The image asks for ${image.vmm}, and the instance runs on ${vmm}: choose another image.`,
    );
};
