import { askOperator, type HintTable } from '../../../core/errors/problem-hints';

/** What to do about failures of pools and volumes, by code. */
export const storageProblems: HintTable = {
  no_space: {
    user: 'Choose a smaller disk, or ask an administrator to make room.',
    operator: 'Make room on the disk of the host, or put the host into maintenance so that others are chosen.',
  },
  volume_too_small: { user: 'Choose a flavor with a larger disk, and try again.' },
  volume_not_found: {
    user: askOperator,
    operator: 'The volume is not on its host any more: look for it in the pool, or delete its instance.',
  },
  volume_gone: { user: 'Nothing is left to do: the volume is gone.' },
  volume_held: {
    user: 'Another instance on its host has it still. Try again in a minute, or ask an administrator.',
    operator:
      'An instance that was deleted while the host was away goes once the host has been told: look at its events.',
  },
  unknown_pool: {
    user: askOperator,
    operator: 'Compare the pools in the configuration of the host with those that it reported (vcctl host show).',
  },
};
