import type { RemoteSpec, RemoteUndoCall, TxContext } from '../../../core/workflow/definition/definition';
import { certain, type Known } from '../../../core/workflow/definition/fragment';
import type { InstanceSpec } from './instance-spec';
import { instanceAbsent, instanceEnsure, type ObservedInstance } from './instance.verbs';

interface OfInstance {
  instanceId: string;
}

/** An instance as its host shall have it. */
interface Wanted {
  generation: number;
  spec: InstanceSpec;
}

interface EnsureArgs extends Wanted {
  instanceId: string;
  power: 'on' | 'off';
  graceSeconds: number;
}

/** Nothing of the instance is left on the host, unless the host has accepted a newer generation. */
export const vmmAbsent = <I extends OfInstance, O>(
  at: Known<I, O, { hostId: string; generation: number }>,
): RemoteUndoCall<I, O, { instanceId: string; generation: number }, object> => ({
  verb: instanceAbsent,
  node: (c) => at(c)?.hostId,
  args: (c) => ({ instanceId: c.input.instanceId, generation: certain(at, c).generation }),
});

/** The virtual machine runs, as its host says. The workflow says what undoes it. */
export const startVmm = <I extends OfInstance, O, UA, UR>(
  host: Known<I, O, string>,
  wanted: (c: TxContext<I, O>) => Promise<Wanted> | Wanted,
  undo: RemoteUndoCall<I, O, UA, UR>,
): RemoteSpec<I, O, EnsureArgs, ObservedInstance, UA, UR> => ({
  title: 'Start the virtual machine',
  verb: instanceEnsure,
  node: (c) => certain(host, c),
  args: async (c) => {
    const { generation, spec } = await wanted(c);
    return { instanceId: c.input.instanceId, generation, spec, power: 'on', graceSeconds: 0 };
  },
  retry: { attempts: 3 },
  undo,
});

/** The virtual machine is off: power button, up to so many seconds, then hard. Without any it is hard at once. */
export const stopVmm = <I extends OfInstance, O>(
  host: Known<I, O, string>,
  wanted: (c: TxContext<I, O>) => Promise<Wanted> | Wanted,
  grace: (input: I) => number,
  noUndo: string,
): RemoteSpec<I, O, EnsureArgs, ObservedInstance> => ({
  title: 'Stop the virtual machine',
  verb: instanceEnsure,
  node: (c) => certain(host, c),
  args: async (c) => {
    const { generation, spec } = await wanted(c);
    const { instanceId } = c.input;
    return { instanceId, generation, spec, power: 'off', graceSeconds: grace(c.input) };
  },
  noUndo,
});

/** As `vmmAbsent`. Skipped without a host; one that is lost does so when it is back. */
export const removeVmm = <I extends OfInstance, O>(
  at: Known<I, O, { hostId: string; generation: number }>,
  noUndo: string,
): RemoteSpec<I, O, { instanceId: string; generation: number }, object> => ({
  title: 'Remove the virtual machine',
  verb: instanceAbsent,
  when: (c) => at(c) !== undefined,
  node: (c) => certain(at, c).hostId,
  args: (c) => ({ instanceId: c.input.instanceId, generation: certain(at, c).generation }),
  tolerateLostNode: true,
  noUndo,
});
