import type { HintTable } from '../../../core/errors/problem-hints';

const again = 'List the leftovers of the host again, and confirm those that are still there.';

/** What to do about failures of tasks on hosts, by code. */
export const hostProblems: HintTable = {
  leftover_changed: { user: again },
  leftover_known: { user: again },
  leftover_claimed: { user: 'It is not a leftover: delete what it belongs to instead.' },
  leftover_in_use: { user: 'Remove the process that uses it first; it is listed too.' },
  leftover_stays: { user: 'Look at the log of the agent on the host: it says what could not be removed.' },
  leftovers_unseen: { user: 'Look at the log of the agent on the host: it says what it could not look at.' },
};
