import { statSync } from 'node:fs';
import { exec } from '../../../../../core/host/processes/exec';

/** What a program says of itself; empty when it fails. A busy host is slow to start one. */
export const says = async (file: string, args: readonly string[]): Promise<string> =>
  exec(file, args, { timeoutMs: 60_000 }).then(
    ({ stdout }) => stdout,
    () => '',
  );

/** What one program told last, and which file that was. */
const told = new Map<string, { file: string; devices: Promise<string> }>();

/** As the program tells them. Asked once, for it takes seconds where a host is busy, and several ask at a time. */
const devicesOf = (qemu: string): Promise<string> => {
  const { ino, mtimeMs, size } = statSync(qemu);
  const file = [ino, mtimeMs, size].join();
  const known = told.get(qemu);
  if (known?.file === file) return known.devices;
  const devices = says(qemu, ['-device', 'help']).then((text) => {
    if (text === '') told.delete(qemu);
    return text;
  });
  told.set(qemu, { file, devices });
  return devices;
};

/** A package of QEMU's that was installed meanwhile may bring further devices. */
export const forgetDevices = (): void => told.clear();

/** Whether this QEMU was built with a device. */
export const hasDevice = async (qemu: string, name: string): Promise<boolean> =>
  (await devicesOf(qemu)).includes(`"${name}"`);
