import type { Op } from '../../../../core/db/rows/op';
import { type Problem, unprocessable } from '../../../../core/errors/problem';
import type { Hosts } from '../../../host/contract/host.ports';
import type { ImageKernel, UsableImage } from '../../../image/contract/image.ports';
import { vmmNeeds } from '../vmms/vmm-needs';
import type { InstanceEntity } from './instance.entity';

/** A firmware judges what it reads from the disk, and is not there at all when a VMM boots a kernel. */
export const kernelIsUnsigned = (path: string): Problem =>
  unprocessable(
    path,
    'secure_boot_with_kernel',
    'The image boots by a kernel of its own, which no firmware looks at: Secure Boot needs an image that boots by UEFI.',
  );

/** An instance that is there does not boot the image of another machine. 422 `other_architecture`, `secure_boot_needs_uefi`, `secure_boot_with_kernel`, `other_vmm_of_image`. */
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
  if (instance.machine.secureBoot === true && image.kernel !== null) throw kernelIsUnsigned('body.image');
  refuseLargeKernel(instance.memoryBytes, image.kernel, 'body.image');
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
  const { wantedVmm: vmm, machine } = instance;
  const needs = vmmNeeds({ vmm, firmware: image.firmware, machine, kernel: image.kernel !== null });
  const bootedBy = ['firmware', 'machine'];
  if (host && needs.some((need) => bootedBy.includes(need.code) && need.refuses(host.parts) !== undefined))
    throw unprocessable('body.image', 'other_firmware', 'Its host cannot boot the image: choose another one.');
};

/**
 * Kernel and initramfs lie in the guest's memory, and the initramfs is unpacked there. 422 `memory_too_small` when that
 * is out of the question.
 */
export const refuseLargeKernel = (memoryBytes: number, kernel: ImageKernel | null, path = 'body.flavor'): void => {
  const needed = kernel === null ? 0 : kernel.bytes + 2 * (kernel.initramfs?.bytes ?? 0);
  if (needed > memoryBytes)
    throw unprocessable(
      path,
      'memory_too_small',
      `The kernel and the initramfs of the image need ${needed} bytes of memory at least, and the flavor has ${memoryBytes}.`,
    );
};
