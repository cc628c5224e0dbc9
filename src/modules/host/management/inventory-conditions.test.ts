import type { Inventory, VmmInventory } from '../contract/host.api';
import { inventoryConditions } from './inventory-conditions';

const machine: Inventory = {
  hostname: 'h',
  kernel: '6.1',
  architecture: 'x86_64',
  cpu: { model: '', flags: [], threads: 1, numaNodes: 1 },
  memory: { totalBytes: 1, hugepages: [] },
  disks: [],
  nics: [],
  pools: [],
  vmms: [],
  agentVersion: '1',
};
const qemu: VmmInventory = {
  kind: 'qemu',
  version: '7.2',
  accel: 'tcg',
  usable: true,
  reason: '',
  warning: 'guests may crash',
  capabilities: [],
};
const soundness = (vmms: VmmInventory[]): object | undefined =>
  inventoryConditions({ ...machine, vmms }).find((c) => c.type === 'VmmSound');

describe('inventoryConditions', () => {
  it('says what is known against a VMM that guests run on', () =>
    expect(soundness([qemu])).toMatchObject({ status: 'false', reason: 'Warned', message: 'guests may crash' }));
  it('says nothing against one that is not used, or of which nothing is known', () => {
    expect(soundness([{ ...qemu, usable: false }])).toMatchObject({ status: 'true' });
    const { warning: _warning, ...sound } = qemu;
    expect(soundness([sound])).toMatchObject({ status: 'true' });
    expect(soundness([])).toMatchObject({ status: 'true' });
  });
});
