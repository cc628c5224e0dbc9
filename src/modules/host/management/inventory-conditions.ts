import type { Inventory } from '../contract/host.api';
import type { ConditionFact } from './host-state';

/** Controllers that instances are limited with. */
const wantedControllers = ['cpu', 'memory', 'pids'];

/**
 * What an inventory says about the host's fitness. Whether a VMM is usable was found by really starting a guest on the
 * host.
 */
export const inventoryConditions = (inventory: Inventory): ConditionFact[] => [
  vmm(inventory),
  soundness(inventory),
  storage(inventory),
  cgroup(inventory),
];

const vmm = ({ vmms, complete }: Inventory): ConditionFact => {
  const usable = vmms.filter((v) => v.usable);
  if (usable.length > 0)
    return {
      type: 'Vmm',
      status: 'true',
      reason: 'Usable',
      message: usable.map((v) => `${v.kind} ${v.version} (${v.accel})`).join(', '),
    };
  if (complete === false)
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
const soundness = ({ vmms }: Inventory): ConditionFact => {
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

const storage = ({ pools, complete }: Inventory): ConditionFact => {
  if (pools.length > 0)
    return {
      type: 'Storage',
      status: 'true',
      reason: 'PoolsPresent',
      message: pools.map((p) => `${p.name} (${p.driver})`).join(', '),
    };
  if (complete === false)
    return { type: 'Storage', status: 'unknown', reason: 'Testing', message: 'its storage pools are being looked at' };
  return { type: 'Storage', status: 'false', reason: 'NoPool', message: 'it has no storage pool' };
};

const cgroup = ({ cgroup: groups }: Inventory): ConditionFact => {
  const missing = wantedControllers.filter((c) => !groups?.controllers.includes(c));
  if (groups?.version === 2 && missing.length === 0)
    return { type: 'Cgroup', status: 'true', reason: 'Available', message: 'control groups version 2' };
  const message =
    groups?.version === 2
      ? `instances cannot be limited by ${missing.join(', ')}`
      : 'there are no control groups version 2: instances run without limits';
  return { type: 'Cgroup', status: 'false', reason: 'Unavailable', message };
};
