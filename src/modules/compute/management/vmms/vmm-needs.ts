import type { HostNeed, HostParts } from '../../../host/contract/host-needs';
import { type AskedOfHardware, givesModel, modelInWords } from '../../contract/hardware';
import type { Limits } from '../../contract/limits';
import { capabilitiesFor, type AskedOfMachine } from '../../contract/machine-options';
import { capabilityInWords, type VmmCapability } from '../../contract/vmm-capabilities';
import type { KeptVmm } from '../../contract/vmm.inventory';

/** What an instance asks of a host's VMMs. */
export interface WantedVmm {
  /** Kind; null for any. */
  vmm: string | null;
  /** What boots the image: a VMM of the host must have it. `any`: whatever the VMM has. */
  firmware: 'any' | 'bios' | 'uefi';
  /** What its machine must be able to do. */
  machine: AskedOfMachine;
  /** The image brings the kernel that boots it. */
  kernel?: boolean;
  /** What it must keep to. */
  limits?: Limits;
  /** What its memory and vCPUs are. */
  hardware?: AskedOfHardware;
  /** Directories of the host that it is given. */
  shares?: readonly unknown[];
}

/** The VMMs that a host has, as far as they are kept beside it. */
export const vmmsOf = ({ vmms = [] }: HostParts): readonly KeptVmm[] =>
  vmms as readonly unknown[] as readonly KeptVmm[];

/** A host with a VMM that works, of the kind that is asked for, with the firmware that the image boots by. */
export const vmmNeeds = ({
  vmm,
  firmware,
  machine,
  kernel = false,
  limits,
  hardware,
  shares,
}: WantedVmm): HostNeed[] => {
  const wanted = [
    ...capabilitiesFor({ machine, limits, hardware, shares }),
    ...(kernel ? (['image-kernel'] as const) : []),
  ];
  const candidates = (parts: HostParts): KeptVmm[] => candidatesOf(parts, vmm);
  return [
    {
      code: 'no_vmm',
      key: '',
      refuses: (parts) =>
        vmmsOf(parts).some(({ usable }) => usable) ? undefined : 'no virtual machine monitor works on it',
    },
    {
      code: 'vmm',
      key: vmm ?? '',
      saying: 'No host has the virtual machine monitor that was asked for.',
      refuses: (parts) =>
        candidates(parts).length > 0
          ? undefined
          : `${vmm ?? ''} was asked for, which ${vmmsOf(parts).some(({ kind }) => kind === vmm) ? 'does not work on it' : 'it does not have'}`,
    },
    {
      code: 'firmware',
      key: firmware,
      saying: 'No host can boot the image: none has the firmware that it asks for.',
      refuses: (parts) =>
        firmware === 'any' || candidates(parts).some(({ capabilities }) => capabilities.includes(firmware))
          ? undefined
          : `the image boots by ${firmware === 'uefi' ? 'UEFI' : 'BIOS'}, which ${vmm === null ? 'none of its virtual machine monitors has' : `its ${vmm} does not have`}`,
    },
    ...(wanted.length === 0 ? [] : [machineNeed(wanted, { vmm, firmware, hardware })]),
  ];
};

/** One VMM that has all of it, and the firmware too. */
const machineNeed = (
  wanted: readonly VmmCapability[],
  { vmm, firmware, hardware = {} }: Pick<WantedVmm, 'vmm' | 'firmware' | 'hardware'>,
): HostNeed => ({
  code: 'machine',
  key: [...wanted, hardware.cpuModel ?? ''].join(','),
  saying: 'No host can make the machine that was asked for.',
  refuses: (parts) => {
    const all = firmware === 'any' ? wanted : [firmware, ...wanted];
    const able = candidatesOf(parts, vmm).filter(({ capabilities }) => all.every((one) => capabilities.includes(one)));
    if (able.some((one) => givesModel(one, hardware))) return undefined;
    if (able.length > 0)
      return `${modelInWords(hardware)}: ${able.map(({ kind }) => kind).join(' and ')} cannot give it whole`;
    return `${wanted.map(capabilityInWords).join(' and ')}: ${vmm === null ? 'none of its virtual machine monitors can' : `its ${vmm} cannot`}`;
  },
});

/** The VMMs of a host that work, of the kind that is asked for. */
const candidatesOf = (parts: HostParts, vmm: string | null): KeptVmm[] =>
  vmmsOf(parts).filter((one) => one.usable && (vmm === null || one.kind === vmm));
