import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VmHandle, VmKernel, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';
import { kernelGuest } from './kernel-guest';
import { SerialClient } from './serial-client';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

/** Room for a kernel and an initramfs. */
const memoryBytes = 192 * 1024 * 1024;
/** With what option lists, shells and URLs take for something else. */
const commandLine = 'console=ttyS0 quiet loglevel=1 mitigations=off mark="a, b;c" x=1,,2 %41';

/** Machines that boot by a kernel of their image: the same for every driver. */
export const kernelContract = (
  subject: () => ContractSubject,
  start: (change?: Partial<VmSpec>) => Promise<Started>,
  failure: (change: Partial<VmSpec>, code: string) => Promise<void>,
): void => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync('/tmp/t-vmm-kernel-');
    chmodSync(directory, 0o711);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const file = (name: string): string => {
    writeFileSync(join(directory, name), name, { mode: 0o444 });
    return join(directory, name);
  };
  /** A real one for VMMs that really boot. */
  const kernelOf = (): VmKernel | null =>
    subject().bootsKernels === true
      ? kernelGuest(directory, commandLine)
      : { path: file('vmlinuz'), initramfs: file('initrd'), commandLine };

  it('boots by a kernel, with its initramfs and its command line, and so again after a reset', async () => {
    const kernel = kernelOf();
    if (kernel === null) return;
    const { driver, handle, serial } = await start({ kernel, memoryBytes });
    const told = async (console: SerialClient): Promise<void> => {
      if (subject().bootsKernels === true) await console.expect(`told <${commandLine}>`, 60_000);
    };
    await told(serial);
    expect(await driver.state(handle)).toBe('running');
    await driver.reset(handle);
    // The reset may have cut the console: its owner connects again.
    serial.close();
    const again = await SerialClient.connect(driver.serialSocket(handle));
    try {
      await told(again);
    } finally {
      again.close();
    }
    expect(await driver.state(handle)).toBe('running');
  }, 120_000);

  it('refuses a kernel that it cannot boot with, before anything is touched', async () => {
    const kernel = { path: file('vmlinuz'), initramfs: null, commandLine: '' };
    await failure({ kernel: { ...kernel, path: 'vmlinuz' } }, 'invalid_spec');
    await failure({ kernel: { ...kernel, initramfs: '../initrd' } }, 'invalid_spec');
    await failure({ kernel: { ...kernel, commandLine: 'quiet\nroot=/dev/vdb' } }, 'invalid_spec');
    await failure({ kernel: { ...kernel, commandLine: 'x'.repeat(2048) } }, 'invalid_spec');
    await failure({ kernel, firmware: 'uefi' }, 'invalid_spec');
    await failure({ kernel, machine: { secureBoot: true } }, 'invalid_spec');
  });

  it('leaves nothing when a file of its kernel is missing, or root alone may read it', async () => {
    if (!subject().usesResources) return;
    const kernel = { path: file('vmlinuz'), initramfs: file('initrd'), commandLine: '' };
    await failure({ kernel: { ...kernel, path: join(directory, 'none') } }, 'kernel_missing');
    await failure({ kernel: { ...kernel, initramfs: join(directory, 'none') } }, 'kernel_missing');
    chmodSync(kernel.initramfs, 0o400);
    await failure({ kernel }, 'kernel_missing');
  });
};
