import { cloudHypervisorEntry } from './cloud-hypervisor/cloud-hypervisor.entry';
import { qemuEntry } from './qemu/qemu.entry';
import { simulatedEntry } from './simulated/simulated.entry';
import type { VmmDriverEntry } from './vmm-driver-entry';

/** Every driver of this build: a new one is a line here. */
export const vmmDriverRegistry: readonly VmmDriverEntry[] = [cloudHypervisorEntry, qemuEntry, simulatedEntry];
