import { vmmNeeds, type WantedVmm } from './vmm-needs';

const qemu = { kind: 'qemu', usable: true, capabilities: ['bios'] };
const ch = { kind: 'cloud-hypervisor', usable: true, capabilities: ['uefi'] };

/** Code and reason of the first need that a host with these VMMs does not fulfil. */
const refusal = (vmms: readonly (typeof qemu)[], wanted: Partial<WantedVmm> = {}): string[] | undefined => {
  for (const { code, refuses } of vmmNeeds({ vmm: null, firmware: 'any', machine: {}, ...wanted })) {
    const reason = refuses({ vmms });
    if (reason !== undefined) return [code, reason];
  }
  return undefined;
};

it('wants a VMM that works', () => {
  expect(refusal([qemu])).toBeUndefined();
  expect(refusal([])?.[0]).toBe('no_vmm');
  expect(refusal([{ ...qemu, usable: false }])).toEqual(['no_vmm', 'no virtual machine monitor works on it']);
});

it('asks a VMM that works for the firmware of the image', () => {
  expect(refusal([qemu], { firmware: 'uefi' })?.[0]).toBe('firmware');
  expect(refusal([qemu, { ...ch, usable: false }], { firmware: 'uefi' })?.[0]).toBe('firmware');
  expect(refusal([qemu, ch], { firmware: 'uefi' })).toBeUndefined();
});

it('wants the VMM that was asked for, working and with the firmware', () => {
  for (const fits of [
    { vmm: 'qemu' },
    { vmm: 'qemu', firmware: 'bios' },
    { vmm: 'cloud-hypervisor', firmware: 'uefi' },
  ])
    expect(refusal([qemu, ch], fits as WantedVmm)).toBeUndefined();
  expect(refusal([qemu, ch], { vmm: 'qemu', firmware: 'uefi' })?.[0]).toBe('firmware');
  expect(refusal([qemu, ch], { vmm: 'firecracker' })?.[0]).toBe('vmm');
  expect(refusal([{ ...ch, usable: false }, qemu], { vmm: 'cloud-hypervisor' })).toEqual([
    'vmm',
    'cloud-hypervisor was asked for, which does not work on it',
  ]);
  expect(refusal([qemu], { vmm: 'cloud-hypervisor' })?.[1]).toBe(
    'cloud-hypervisor was asked for, which it does not have',
  );
});

it('tells needs apart by what they ask for', () => {
  const keys = (wanted: Omit<WantedVmm, 'machine'> & Partial<WantedVmm>) =>
    vmmNeeds({ machine: {}, ...wanted }).map(({ code, key }) => [code, key]);
  expect(keys({ vmm: 'qemu', firmware: 'bios' })).not.toEqual(keys({ vmm: 'qemu', firmware: 'uefi' }));
  expect(keys({ vmm: 'qemu', firmware: 'any' })).not.toEqual(keys({ vmm: null, firmware: 'any' }));
  expect(keys({ vmm: null, firmware: 'any' })).not.toEqual(
    keys({ vmm: null, firmware: 'any', machine: { tpm: true } }),
  );
});

it('wants one VMM that can make the whole machine, with the firmware too', () => {
  const secure = { kind: 'other', usable: true, capabilities: ['uefi', 'secure-boot'] };
  const trusted = { ...qemu, capabilities: ['bios', 'tpm'] };
  expect(refusal([secure], { machine: { secureBoot: true } })).toBeUndefined();
  expect(refusal([secure, trusted], { machine: { secureBoot: true, tpm: true } })).toEqual([
    'machine',
    'Secure Boot and TPM 2.0: none of its virtual machine monitors can',
  ]);
  expect(refusal([secure, trusted], { machine: { tpm: true }, firmware: 'uefi' })?.[0]).toBe('machine');
  expect(refusal([secure, trusted], { machine: { tpm: true }, vmm: 'other' })?.[1]).toBe('TPM 2.0: its other cannot');
  const restarting = { ...qemu, capabilities: ['bios', 'watchdog-restart', 'panic-policy'] };
  expect(refusal([restarting], { machine: { watchdog: 'restart', panic: 'stop' } })).toBeUndefined();
  expect(refusal([restarting], { machine: { watchdog: 'stop', panic: 'stop' } })).toEqual([
    'machine',
    'a watchdog that stops and a policy for panics: none of its virtual machine monitors can',
  ]);
});

it('asks a VMM that works for one that boots kernels of images, and names what is missing', () => {
  const able = { ...qemu, capabilities: ['bios', 'image-kernel'] };
  expect(refusal([qemu, able], { kernel: true })).toBeUndefined();
  expect(refusal([qemu, ch], { kernel: true })).toEqual([
    'machine',
    'boots by the kernel of an image: none of its virtual machine monitors can',
  ]);
  expect(refusal([able], { kernel: true, machine: { tpm: true } })?.[0]).toBe('machine');
});

it('wants a VMM that can keep to the limits, with what else is asked of the machine', () => {
  const limits = { disk: { iops: 100, bytesPerSecond: null, burstSeconds: 1 }, nic: null };
  const able = { ...qemu, capabilities: ['bios', 'disk-limits'] };
  expect(refusal([able], { limits })).toBeUndefined();
  expect(refusal([qemu], { limits })).toEqual([
    'machine',
    'limits of how fast disks are: none of its virtual machine monitors can',
  ]);
  expect(refusal([able], { limits, machine: { tpm: true } })?.[0]).toBe('machine');
  expect(refusal([able], { limits: { disk: null, nic: { bytesPerSecond: 2 ** 20, burstSeconds: 1 } } })?.[1]).toBe(
    'limits of how fast NICs are: none of its virtual machine monitors can',
  );
  expect(refusal([qemu], { limits: { disk: null, nic: null } })).toBeUndefined();
});

it('wants a VMM that can make the hardware', () => {
  const hardware = { sharedMemory: true } as const;
  expect(refusal([{ ...qemu, capabilities: ['bios', 'shared-memory'] }], { hardware })).toBeUndefined();
  expect(refusal([qemu], { hardware })).toEqual(['machine', 'shared memory: none of its virtual machine monitors can']);
  expect(refusal([qemu], { hardware: {} })).toBeUndefined();
  const able = { ...qemu, capabilities: ['bios', 'cpu-models'], cpuModels: ['EPYC-v1', 'max'] };
  expect(refusal([able], { hardware: { cpuModel: 'EPYC-v1' } })).toBeUndefined();
  expect(refusal([able], { hardware: { cpuModel: 'EPYC-v2' } })).toEqual([
    'machine',
    'the CPU model EPYC-v2: qemu cannot give it whole',
  ]);
  expect(refusal([qemu], { hardware: { cpuModel: 'EPYC-v1' } })).toEqual([
    'machine',
    'models of CPUs: none of its virtual machine monitors can',
  ]);
});
