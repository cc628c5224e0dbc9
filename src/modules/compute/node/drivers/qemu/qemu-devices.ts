import { exec } from '../../../../../core/host/processes/exec';

/** What a program says of itself; empty when it fails. */
export const says = async (file: string, args: readonly string[]): Promise<string> =>
  exec(file, args, { timeoutMs: 10_000 }).then(
    ({ stdout }) => stdout,
    () => '',
  );

/** Whether this QEMU was built with a device. */
export const hasDevice = async (qemu: string, name: string): Promise<boolean> =>
  (await says(qemu, ['-device', 'help'])).includes(`"${name}"`);
