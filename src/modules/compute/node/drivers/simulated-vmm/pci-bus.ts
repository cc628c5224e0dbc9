import { readFileSync } from 'node:fs';
import { ApiFailure } from './api-failure';

export interface PciBar {
  PciBar: { index: number; base: number; size: number; type_: 'Mmio32' | 'Mmio64'; prefetchable: boolean };
}

export interface TreeNode {
  id: string;
  resources: PciBar[];
  parent?: string;
  children: string[];
  pci_bdf?: string;
}

const slotsPerSegment = 32;
const barSize = 0x8_0000;
const low = { top: 0xe800_0000, step: barSize };
const highStep = 0x80_0000;
/** Where a host does not say how many bits its physical addresses have. */
const usualBits = 40;

let knownBits: number | undefined;
/** Looked at once: the kernel writes that file anew for each reader, all cores of it. */
const hostBits = (): number => {
  if (knownBits === undefined) {
    const said = /^address sizes\s*: (\d+) bits physical/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1];
    knownBits = said === undefined ? usualBits : Number(said);
  }
  return knownBits;
};

/** The places of virtio devices: nodes of the device tree, slots of the bus and addresses of their registers. */
export class PciBus {
  private readonly tree = new Map<string, TreeNode>();
  private readonly slots = new Set<string>();
  private readonly bases = new Set<number>();
  private readonly high: { top: number; step: number };

  /** `bits`: of physical addresses that a guest may have at most. */
  constructor(bits: number) {
    this.high = { top: 2 ** Math.min(bits, hostBits()), step: highStep };
  }

  /** A device that has no place on the bus. */
  addLegacy(id: string): void {
    this.tree.set(id, { id, resources: [], children: [] });
  }

  /** `low`: its registers lie below 4 GiB, where firmware sees them. Throws `ApiFailure` under `heading`. */
  add(wanted: { id: string; segment?: number; slot?: number | null; low?: boolean }, heading: string): string {
    const { id, segment = 0 } = wanted;
    const fault = (...chain: string[]): ApiFailure =>
      new ApiFailure('internal', heading, 'Error from device manager', ...chain);
    if (this.tree.has(id)) throw fault(`Invalid identifier as it is not unique: ${id}`);
    for (let slot = wanted.slot ?? 1; slot < slotsPerSegment; slot++) {
      const bdf = `${segment.toString(16).padStart(4, '0')}:00:${slot.toString(16).padStart(2, '0')}.0`;
      if (this.slots.has(bdf)) continue;
      this.slots.add(bdf);
      const parent = `_virtio-pci-${id}`;
      const bar = this.bar(wanted.low === true ? 'Mmio32' : 'Mmio64');
      this.tree.set(parent, { id: parent, resources: [bar], children: [id], pci_bdf: bdf });
      this.tree.set(id, { id, resources: [], parent, children: [] });
      return bdf;
    }
    throw fault('Failed to find an available PCI device ID', 'Could not find an available device slot on the PCI bus');
  }

  /** Returns where the device was. */
  remove(id: string): string {
    const node = this.tree.get(`_virtio-pci-${id}`);
    this.tree.delete(id);
    this.tree.delete(`_virtio-pci-${id}`);
    for (const bar of node?.resources ?? []) this.bases.delete(bar.PciBar.base);
    if (node?.pci_bdf !== undefined) this.slots.delete(node.pci_bdf);
    return node?.pci_bdf ?? '';
  }

  has(id: string): boolean {
    return this.tree.has(id);
  }

  /** Whether the device has a place on the bus. */
  isPci(id: string): boolean {
    return this.tree.has(`_virtio-pci-${id}`);
  }

  nodes(): Record<string, TreeNode> {
    return Object.fromEntries(this.tree);
  }

  /** Addresses are given from the top down. */
  private bar(type_: PciBar['PciBar']['type_']): PciBar {
    const { top, step } = type_ === 'Mmio32' ? low : this.high;
    let base = top - step;
    while (this.bases.has(base)) base -= step;
    this.bases.add(base);
    return { PciBar: { index: 0, base, size: barSize, type_, prefetchable: false } };
  }
}
