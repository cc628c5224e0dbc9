import type { InstanceState } from '../../contract/instance-states';
import type { ObservedInstance } from '../../contract/instance.verbs';

const words: Record<string, string> = {
  guest: 'powered off by its guest',
  operator: 'stopped on request',
  forced: 'stopped by force: its guest did not power off in time, or was not asked',
};

/** Why an instance is in the state that its host reports, for users; empty when it runs or is paused. */
export const reasonInWords = (observed: Pick<ObservedInstance, 'state' | 'reason'>): string =>
  observed.state === 'running' || observed.state === 'paused' ? '' : (words[observed.reason] ?? observed.reason);

/**
 * The reason as users see it: a silent host's instance keeps the reason of its last known state for later. A host that
 * cannot tell the state says why.
 */
export const shownReason = (
  state: InstanceState | string,
  stateReason: string,
  observedState: string | null,
): string => (state === 'unknown' && observedState !== 'unknown' ? 'its host is silent' : stateReason);
