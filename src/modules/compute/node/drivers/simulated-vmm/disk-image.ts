import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { ApiFailure } from './api-failure';
import type { SimulationKnobs } from './knobs';
import type { VersionProfile } from './profile';
import { osError } from './serial-port';
import type { DiskConfig } from './vm-config';

type ImageType = DiskConfig['image_type'];

const detect = (path: string): ImageType => {
  const fd = openSync(path, 'r');
  try {
    const head = Buffer.alloc(8);
    readSync(fd, head, 0, 8, 0);
    if (head.subarray(0, 4).equals(Buffer.from([0x51, 0x46, 0x49, 0xfb]))) return 'Qcow2';
    if (head.toString('latin1') === 'vhdxfile') return 'Vhdx';
    const { size } = fstatSync(fd);
    if (size >= 512) readSync(fd, head, 0, 8, size - 512);
    return head.toString('latin1') === 'conectix' ? 'FixedVhd' : 'Raw';
  } finally {
    closeSync(fd);
  }
};

/**
 * Opens a disk as the device manager does: it must be there and be what it is said to be; an unknown type is probed and
 * written into the configuration.
 */
export const openDisk = (disk: DiskConfig, heading: string, knobs: SimulationKnobs, profile: VersionProfile): void => {
  if (disk.path === null && !disk.vhost_user)
    throw new ApiFailure(
      'internal',
      heading,
      'Error from device manager',
      'No disk path was specified when one was expected',
    );
  if (knobs.resources === 'none' || disk.path === null) return;
  let detected: ImageType;
  try {
    detected = detect(disk.path);
  } catch (error) {
    throw new ApiFailure(
      'internal',
      heading,
      'Error from device manager',
      'Cannot open disk path',
      ...(profile.namesDiskErrors ? [`I/O error (path=${disk.path} op=open)`] : []),
      osError(error as NodeJS.ErrnoException),
    );
  }
  if (disk.image_type === 'Unknown') disk.image_type = detected;
  else if (disk.image_type !== detected) {
    const text = `Disk image type does not match expected type: specified = ${disk.image_type.toLowerCase()}, detected = ${detected.toLowerCase()}`;
    throw new ApiFailure('internal', heading, 'Error from device manager', text);
  }
};
