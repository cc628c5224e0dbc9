import type { HintTable } from '../../../core/errors/problem-hints';

/** What to do about failures of placement, by code. */
export const schedulerProblems: HintTable = {
  no_host: {
    user: 'Choose a smaller flavor, or ask an administrator for room.',
    operator: 'Add a host, or make room on one (vcctl host list).',
  },
};
