/** What to do about a failure: for whoever asked for the task, and for those who run the hosts. */
interface ProblemHint {
  user: string;
  operator?: string;
}

/** Hints by the stable code of a problem. `null`: known, and its message says enough. */
export type HintTable = Readonly<Record<string, ProblemHint | null>>;

/** For a user who can do nothing about it. */
export const askOperator = 'Try again later; if it fails again, show an administrator this task.';

const compareVersions = "Compare the versions of management and of the host's agent, and read the agent's log.";

/** Of failures between management and hosts, and of the engine itself. */
export const coreHints: HintTable = {
  node_unreachable: {
    user: askOperator,
    operator:
      'Check that the host is up and that its agent runs and reaches management (vcctl host show), then try again.',
  },
  host_outdated: {
    user: askOperator,
    operator: 'Upgrade the agent of the host (its release stands in vcctl host show), then try again.',
  },
  unknown_host: { user: 'The host was removed meanwhile. Try again.' },
  invalid_answer: { user: askOperator, operator: compareVersions },
  invalid_result: { user: askOperator, operator: compareVersions },
  stopping: { user: 'The host was being restarted. Try again.' },
  interrupted: { user: 'Something else was asked of the object meanwhile. Look at its state, and try again.' },
  stale_generation: {
    user: 'A newer change came first. Look at the state of the object, and try again if it is needed still.',
  },
  deadline_exceeded: {
    user: askOperator,
    operator: 'Look at the step that took so long, and at its host; then try again.',
  },
  step_timeout: {
    user: askOperator,
    operator: 'Look at the host of the step: its load, its disks, its agent. Then try again.',
  },
  internal: {
    user: 'Show an administrator this task: the log of management has the details under its id.',
    operator: 'Search the log of management for the id of the task, and report it as a bug.',
  },
  // Their messages say enough.
  busy: null,
  child_failed: null,
  child_joined: null,
  invalid_args: null,
  journal_failed: null,
  journal_full: null,
  key_required: null,
  key_reused: null,
  not_verified: null,
  process_died: null,
  stale_fence: null,
  step_without_host: null,
  too_many_children: null,
  undone: null,
  unknown_key: null,
  unknown_verb: null,
};

/** What to do next about a failed task, by the code of its error: core's own hints and those that modules declare. */
export class ProblemHints {
  constructor(private readonly table: HintTable) {}

  /** In a sentence; a general one for a code that has none of its own. @param operator sees hosts and runs them */
  for(code: string, operator: boolean): string {
    const hint = Object.hasOwn(this.table, code) ? this.table[code] : undefined;
    if (!hint)
      return operator
        ? 'Mend what the message names, and try again.'
        : 'Try again; if it fails again, show an administrator this task.';
    return operator ? (hint.operator ?? hint.user) : hint.user;
  }
}
