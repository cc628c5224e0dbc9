import { guardRefusal } from '../../../../src/modules/compute/contract/instance-guards';
import { runningResizeRefusal, type Size } from '../../../../src/modules/compute/contract/instance-size';
import { refusalOf, type InstanceVerb } from '../../../../src/modules/compute/contract/instance-states';
import type { Instance } from '../../lib/types';

export type InstanceAction = Exclude<InstanceVerb, 'tell-metadata'> | 'delete' | 'edit' | 'console' | 'unlock';

const phases: Partial<Record<Instance['state'], string>> = {
  building: 'It is still being built.',
  starting: 'It is starting.',
  stopping: 'It is stopping.',
  rebooting: 'It is rebooting.',
  pausing: 'It is being paused.',
  suspending: 'It is being suspended.',
  resuming: 'It is being resumed.',
  resizing: 'It is being resized.',
  rebuilding: 'It is being rebuilt.',
  rescuing: 'It is being brought into rescue.',
  unrescuing: 'It is being brought out of rescue.',
  deleting: 'It is being deleted.',
};
const unreachable = 'Its host does not answer, so nothing can be told to it.';
/** There is a machine behind them, so there is something to see. */
const withConsole: readonly Instance['state'][] = [
  'running',
  'paused',
  'rescued',
  'rebooting',
  'starting',
  'stopping',
  'pausing',
  'resuming',
  'unrescuing',
];

/** Why `action` cannot be asked of the instance now; null when it can. `role` is the role's own reason. */
export const whyNot = (instance: Instance, action: InstanceAction, role: string | null): string | null => {
  if (role !== null) return role;
  const { state } = instance;
  // Deleting may be asked in any state: it ends whatever runs. A name or description can change in any.
  if (action === 'unlock') return null;
  const guard = action === 'console' ? undefined : guardRefusal(instance, action === 'delete');
  if (guard !== undefined) return guard.detail;
  if (action === 'delete' || action === 'edit') return state === 'deleting' ? 'It is being deleted.' : null;
  if (action === 'console') {
    if (withConsole.includes(state)) return null;
    return phases[state] ?? (state === 'unknown' ? unreachable : 'It is not running. Start it first.');
  }
  const phase = phases[state];
  if (phase !== undefined) return phase;
  if (state === 'unknown') return unreachable;
  if (instance.taskId !== null) return 'A task works on it.';
  if (action === 'balloon' && !instance.machine.balloon) return 'It was created without a balloon.';
  const refusal =
    action === 'resize' && state === 'running' ? resizeRefusal(instance, instance.flavor) : refusalOf(action, instance);
  return refusal?.detail ?? null;
};

/** Why an instance that runs cannot get the size while it does; undefined when it can, as far as is known here. */
export const resizeRefusal = (
  { flavor, maxVcpus, maxMemoryBytes }: Instance,
  size: Size,
): ReturnType<typeof runningResizeRefusal> =>
  // A flavor that leaves the disk to the image leaves it as it is.
  runningResizeRefusal(
    { ...flavor, maxVcpus, maxMemoryBytes },
    { ...size, diskBytes: Math.max(size.diskBytes, flavor.diskBytes) },
  );

export const addressesOf = (instance: Instance): string => instance.ports.map((p) => p.address).join(', ');
