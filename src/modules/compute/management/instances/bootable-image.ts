import type { Op } from '../../../../core/db/rows/op';
import { unprocessable } from '../../../../core/errors/problem';
import type { Hosts } from '../../../host/contract/host.ports';
import type { UsableImage } from '../../../image/contract/image.ports';
import { vmmNeeds } from '../vmms/vmm-needs';
import type { InstanceEntity } from './instance.entity';

/** An instance that is there does not boot the image of another machine. 422 `other_architecture`, `secure_boot_needs_uefi`, `other_vmm_of_image`. */
export const refuseForeign = (instance: InstanceEntity, image: UsableImage): void => {
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

/** It stays on its host, whatever boots the image. 422 `other_firmware`. */
export const refuseUnbootable = async (
  op: Op,
  hosts: Hosts,
  instance: InstanceEntity,
  image: UsableImage,
): Promise<void> => {
  const host = instance.hostId === null ? undefined : await hosts.byId(op, instance.hostId);
  const needs = vmmNeeds({ vmm: instance.wantedVmm, firmware: image.firmware, machine: instance.machine });
  if (host && needs.some((need) => need.code === 'firmware' && need.refuses(host.parts) !== undefined))
    throw unprocessable('body.image', 'other_firmware', 'Its host cannot boot the image: choose another one.');
};
