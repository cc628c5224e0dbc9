import type { VmmInventory } from '../../contract/vmm.inventory';
import { VmmInventoryPart } from './vmm-inventory.part';

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
  new VmmInventoryPart().conditions(vmms, true).find((c) => c.type === 'VmmSound');

describe('what the VMMs of a host say of it', () => {
  it('says what is known against a VMM that guests run on', () =>
    expect(soundness([qemu])).toMatchObject({ status: 'false', reason: 'Warned', message: 'guests may crash' }));
  it('says nothing against one that is not used, or of which nothing is known', () => {
    expect(soundness([{ ...qemu, usable: false }])).toMatchObject({ status: 'true' });
    const { warning: _warning, ...sound } = qemu;
    expect(soundness([sound])).toMatchObject({ status: 'true' });
    expect(soundness([])).toMatchObject({ status: 'true' });
  });
});
