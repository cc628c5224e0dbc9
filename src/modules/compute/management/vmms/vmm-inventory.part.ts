import { injectable } from 'inversify';
import type { VmmInventory } from '../../contract/vmm.inventory';
import { type HostConditionFact, InventoryPart } from '../../../host/contract/host.ports';

/** Whether guests can run on a host: a VMM is usable when it has really started one there. */
@injectable()
export class VmmInventoryPart extends InventoryPart<VmmInventory> {
  override readonly part = 'vmms';

  override conditions(vmms: readonly VmmInventory[], complete: boolean): HostConditionFact[] {
    return [usability(vmms, complete), soundness(vmms)];
  }
}

const usability = (vmms: readonly VmmInventory[], complete: boolean): HostConditionFact => {
  const usable = vmms.filter((v) => v.usable);
  if (usable.length > 0)
    return {
      type: 'Vmm',
      status: 'true',
      reason: 'Usable',
      message: usable.map((v) => `${v.kind} ${v.version} (${v.accel})`).join(', '),
    };
  if (!complete)
    return {
      type: 'Vmm',
      status: 'unknown',
      reason: 'Testing',
      message: 'its virtual machine monitors are being tested',
    };
  const reasons = vmms.map((v) => `${v.kind}: ${v.reason}`).join('; ');
  return {
    type: 'Vmm',
    status: 'false',
    reason: 'NoUsableVmm',
    message: `no virtual machine monitor works on it${reasons ? ` (${reasons})` : ''}`,
  };
};

/** Of those that guests run on: what is known against them, although they work. */
const soundness = (vmms: readonly VmmInventory[]): HostConditionFact => {
  const warnings = vmms.flatMap((v) => (v.usable && v.warning !== undefined ? [v.warning] : []));
  if (warnings.length === 0)
    return {
      type: 'VmmSound',
      status: 'true',
      reason: 'NothingKnown',
      message: 'nothing is known against its virtual machine monitors',
    };
  return { type: 'VmmSound', status: 'false', reason: 'Warned', message: warnings.join(' ') };
};
