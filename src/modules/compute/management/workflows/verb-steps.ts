import type { TxStep } from '../../../../core/workflow/definition/definition';
import { certain, type Known } from '../../../../core/workflow/definition/fragment';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import type { restingStates } from '../../contract/instance-states';
import type { ObservedInstance } from '../../contract/instance.verbs';
import type { InstanceSteps } from './instance-steps';

interface OfInstance {
  instanceId: string;
}

/** Why a resume is not undone. */
export const goneOn = 'a guest that has gone on cannot be put back to where it stood';

/** How a verb on an instance begins: the instance is there, and has a host. */
export const beginOnHost = <I extends OfInstance, O>(steps: InstanceSteps): TxStep<I, O, { hostId: string }> => ({
  title: 'Check the instance',
  run: async (c) => {
    const { hostId } = await steps.require(c.op, c.input.instanceId);
    if (hostId === null) throw new PermanentError('no_host', 'The instance has no host.');
    return { hostId };
  },
  noUndo: 'the state is settled when the task ends',
});

/**
 * How it ends: what the host has observed is the instance's state. Where the verb wants one that the host does not see,
 * it has failed.
 */
export const settleObserved = <I extends OfInstance, O>(
  steps: InstanceSteps,
  title: string,
  observed: Known<I, O, ObservedInstance>,
  wanted?: (typeof restingStates)[number],
): TxStep<I, O, Record<string, never>> => ({
  title,
  run: async (c) => {
    const seen = certain(observed, c);
    if (wanted !== undefined && seen.state !== wanted)
      throw new PermanentError('instance_not_running', `The instance is ${seen.state}, not ${wanted}.`);
    await steps.settle(c.op, c.input.instanceId, c.taskId, seen);
    return {};
  },
  noUndo: 'it is the last step',
});
