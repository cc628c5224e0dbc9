import type { Inventory } from '../../contract/host.api';
import type { ConditionFact } from '../hosts/host-state';

/** Controllers that instances are limited with. */
const wantedControllers = ['cpu', 'memory', 'pids'];

/** Whether what runs on the host can be limited. */
export const cgroupCondition = ({ cgroup: groups }: Inventory): ConditionFact => {
  const missing = wantedControllers.filter((c) => !groups?.controllers.includes(c));
  if (groups?.version === 2 && missing.length === 0)
    return { type: 'Cgroup', status: 'true', reason: 'Available', message: 'control groups version 2' };
  const message =
    groups?.version === 2
      ? `instances cannot be limited by ${missing.join(', ')}`
      : 'there are no control groups version 2: instances run without limits';
  return { type: 'Cgroup', status: 'false', reason: 'Unavailable', message };
};
