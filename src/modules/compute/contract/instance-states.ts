/**
 * `building` → `running` ⇄ `stopped`, `running` ⇄ `paused`, `running` ⇄ `suspended`; `starting`, `stopping`,
 * `rebooting`, `pausing`, `suspending`, `resuming`, `resizing`, `rebuilding`, `deleting` while a task works; `unknown` when its host is silent; `error` when it ended by itself with a failure.
 */
export const instanceStates = [
  'building',
  'running',
  'paused',
  'suspended',
  'starting',
  'stopping',
  'rebooting',
  'pausing',
  'suspending',
  'resuming',
  'resizing',
  'rebuilding',
  'stopped',
  'deleting',
  'unknown',
  'error',
] as const;
export type InstanceState = (typeof instanceStates)[number];

/** States that hosts report, and that an instance rests in. */
export const restingStates = ['running', 'paused', 'suspended', 'stopped'] as const satisfies readonly InstanceState[];

/** Why a verb is refused: the code of the problem, and what people read. */
export interface Refusal {
  code: string;
  detail: string;
}

interface VerbRule {
  /** What the instance is called while the verb's task works. Null: what it was before. */
  during: InstanceState | null;
  /**
   * States in which it is refused at once, and why. A state that is missing here is one of a task, whose hold on the
   * instance refuses every other verb (409 `task_running`), or one in which the host has the last word: it is silent
   * (`unknown`), or something may be left to end there (`error`).
   */
  refusedIn: Partial<Record<InstanceState, Refusal>>;
}

const stoppedStart: Refusal = { code: 'instance_stopped', detail: 'It is stopped: start it.' };
const pausedResume: Refusal = { code: 'instance_paused', detail: 'It is paused: resume it.' };
const pausedDevices: Refusal = {
  code: 'instance_paused',
  detail: 'It is paused, so its guest sees no device come or go: resume it.',
};
const suspendedResume: Refusal = { code: 'instance_suspended', detail: 'It is suspended: resume it.' };
const notRunning: Refusal = { code: 'instance_not_running', detail: 'It does not run: start it.' };

/**
 * What may be asked of an instance, and when: the state machine, in one place. Delete is not in it, for it may be asked
 * in any state and preempts what runs.
 */
export const instanceVerbs = {
  start: {
    during: 'starting',
    refusedIn: {
      running: { code: 'instance_running', detail: 'It is running already.' },
      paused: pausedResume,
      suspended: suspendedResume,
    },
  },
  stop: {
    during: 'stopping',
    refusedIn: {
      stopped: { code: 'instance_stopped', detail: 'It is stopped already.' },
      paused: {
        code: 'instance_paused',
        detail: 'It is paused, so its guest cannot power off: resume it, or stop it by force.',
      },
      suspended: {
        code: 'instance_suspended',
        detail: 'It is suspended: resume it, or stop it by force, which gives up its memory.',
      },
    },
  },
  'force-stop': {
    during: 'stopping',
    refusedIn: { stopped: { code: 'instance_stopped', detail: 'It is stopped already.' } },
  },
  reboot: {
    during: 'rebooting',
    refusedIn: { stopped: stoppedStart, paused: pausedResume, suspended: suspendedResume },
  },
  pause: {
    during: 'pausing',
    refusedIn: {
      stopped: stoppedStart,
      paused: { code: 'instance_paused', detail: 'It is paused already.' },
      suspended: suspendedResume,
      error: notRunning,
    },
  },
  suspend: {
    during: 'suspending',
    refusedIn: {
      stopped: stoppedStart,
      paused: pausedResume,
      suspended: { code: 'instance_suspended', detail: 'It is suspended already.' },
      error: notRunning,
    },
  },
  resume: {
    during: 'resuming',
    refusedIn: {
      running: { code: 'instance_running', detail: 'It is neither paused nor suspended.' },
      stopped: stoppedStart,
      error: notRunning,
    },
  },
  'attach-port': { during: null, refusedIn: { paused: pausedDevices, suspended: suspendedResume } },
  'detach-port': { during: null, refusedIn: { paused: pausedDevices, suspended: suspendedResume } },
  nmi: {
    during: null,
    refusedIn: { stopped: stoppedStart, paused: pausedResume, suspended: suspendedResume, error: notRunning },
  },
  resize: {
    during: 'resizing',
    refusedIn: {
      running: { code: 'instance_running', detail: 'It runs: stop it first, for its size changes at the next start.' },
      paused: { code: 'instance_paused', detail: 'It is paused: stop it by force first.' },
      suspended: { code: 'instance_suspended', detail: 'It is suspended: resume it and stop it first.' },
      error: { code: 'instance_not_stopped', detail: 'It may still run on its host: stop it by force first.' },
    },
  },
  rebuild: {
    during: 'rebuilding',
    refusedIn: {
      running: { code: 'instance_running', detail: 'It runs: stop it first, for its disk is exchanged.' },
      paused: { code: 'instance_paused', detail: 'It is paused: stop it by force first.' },
      suspended: { code: 'instance_suspended', detail: 'It is suspended: resume it and stop it first.' },
      error: { code: 'instance_not_stopped', detail: 'It may still run on its host: stop it by force first.' },
    },
  },
  'tell-metadata': { during: null, refusedIn: {} },
} as const satisfies Record<string, VerbRule>;

export type InstanceVerb = keyof typeof instanceVerbs;

/** Why the verb is refused in the state; undefined when it is not. */
export const refusalOf = (verb: InstanceVerb, state: InstanceState): Refusal | undefined =>
  (instanceVerbs[verb].refusedIn as VerbRule['refusedIn'])[state];

/**
 * Why its screen cannot be looked at in the state; undefined when it can. Without a machine there is none; in every other
 * state its host has the last word.
 */
export const screenRefusal = (state: InstanceState): Refusal | undefined =>
  state === 'stopped' ? stoppedStart : state === 'error' ? notRunning : undefined;
