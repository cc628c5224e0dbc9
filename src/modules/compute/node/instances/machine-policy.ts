import type { MachineAction } from '../../contract/machine-options';
import type { ExitReason } from '../drivers/vmm-exit';
import type { InstanceRecord } from './instance-record';

type Policies = Pick<InstanceRecord['spec'], 'machine' | 'restartPolicy'>;

/** What becomes of the machine: as was asked for it, and else a panic is a failure as any other. */
export const actionAt = (kind: 'panic' | 'watchdog', { machine = {}, restartPolicy }: Policies): MachineAction =>
  machine[kind] ?? (kind === 'panic' && restartPolicy === 'on-failure' ? 'restart' : 'notify');

/** The same of a machine that ended by a failure. */
export const actionAfter = (reason: ExitReason, spec: Policies): MachineAction => {
  if (reason === 'guest-panic') return actionAt('panic', spec);
  if (reason === 'watchdog') return actionAt('watchdog', spec);
  return spec.restartPolicy === 'on-failure' ? 'restart' : 'notify';
};
