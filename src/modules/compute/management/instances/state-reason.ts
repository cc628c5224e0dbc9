import type { InstanceState } from '../../contract/instance-states';
import type { InstanceGuest, ObservedInstance } from '../../contract/instance.verbs';

const words: Record<string, string> = {
  guest: 'powered off by its guest',
  operator: 'stopped on request',
  forced: 'stopped by force: its guest did not power off in time, or was not asked',
};

/** Why an instance is in the state that its host reports, for users; empty when it runs, is paused or suspended, and all is well. */
export const reasonInWords = (observed: Pick<ObservedInstance, 'state' | 'reason' | 'guest'>): string =>
  observed.state === 'running' || observed.state === 'paused'
    ? guestInWords(observed.guest)
    : observed.state === 'suspended'
      ? ''
      : (words[observed.reason] ?? observed.reason);

/** Its machine runs, and its guest does not do well. What a reset followed is over. */
const guestInWords = (guest: InstanceGuest | null): string => {
  if (guest === null) return '';
  if (guest.looping) return 'its guest restarts itself again and again';
  const lasts = (at: string | null): boolean =>
    at !== null && (guest.resetAt === null || Date.parse(guest.resetAt) < Date.parse(at));
  if (lasts(guest.panickedAt)) return 'its guest panicked';
  if (lasts(guest.watchdogAt)) return 'its watchdog fired';
  const { lost } = guest;
  return lost.length === 0 ? '' : `without its ${lost.join(' and ')}, which failed, until it is stopped and started`;
};

/**
 * The reason as users see it: a silent host's instance keeps the reason of its last known state for later. A host that
 * cannot tell the state says why.
 */
export const shownReason = (
  state: InstanceState | string,
  stateReason: string,
  observedState: string | null,
): string => (state === 'unknown' && observedState !== 'unknown' ? 'its host is silent' : stateReason);
