import type { HintTable } from '../../../core/errors/problem-hints';

/** What to do about failures of placement, by code. */
export const schedulerProblems: HintTable = {
  no_host: {
    user: 'Choose a smaller flavor, or ask an administrator for room.',
    operator: 'Add a host, or make room on one (vcctl host list).',
  },
  no_room: {
    user: 'Choose a smaller size, or ask an administrator for room.',
    operator: 'Make room on the host of the instance: delete what is not needed there (vcctl instance list --host).',
  },
};
