import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { Firmware } from '../vmm-driver';

/** As Cloud Hypervisor's own releases name them. The first boots images without an EFI boot loader too. */
const names = ['hypervisor-fw', 'CLOUDHV.fd'];
/** Where distributions and the project's documentation put what belongs to a program. */
const folders = [
  '/usr/share/cloud-hypervisor',
  '/usr/local/share/cloud-hypervisor',
  '/usr/lib/cloud-hypervisor',
  '/var/lib/cloud-hypervisor',
];

/**
 * What disks can boot by here: EDK2 is a UEFI; `hypervisor-fw` is neither UEFI nor BIOS, and a kernel of the host's
 * boots no disk's own.
 */
export const firmwaresOf = (payload: { firmware: string }): Firmware[] =>
  payload.firmware.endsWith('.fd') ? ['uefi'] : [];

/**
 * The firmware that lies in one of the usual places or beside the binary (a name on the PATH or an absolute path);
 * empty when there is none.
 */
export const findFirmware = (
  binary: string,
  path = process.env['PATH'] ?? '',
  usual: readonly string[] = folders,
): string => {
  const program = isAbsolute(binary)
    ? binary
    : path
        .split(delimiter)
        .map((folder) => join(folder, binary))
        .find((file) => existsSync(file));
  const beside = program !== undefined && existsSync(program) ? [dirname(realpathSync(program))] : [];
  return (
    [...usual, ...beside]
      .flatMap((folder) => names.map((name) => join(folder, name)))
      .find((file) => existsSync(file)) ?? ''
  );
};
