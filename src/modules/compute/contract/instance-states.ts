/**
 * `building` → `running` ⇄ `stopped`, `running` ⇄ `paused`, `running` ⇄ `suspended`, `stopped` ⇄ `rescued`; `starting`, `stopping`,
 * `rebooting`, `pausing`, `suspending`, `resuming`, `resizing`, `rebuilding`, `rescuing`, `unrescuing`, `deleting` while a task works; `unknown` when its host is silent; `error` when it ended by itself with a failure.
 */
export const instanceStates = [
  'building',
  'running',
  'paused',
  'suspended',
  'rescued',
  'starting',
  'stopping',
  'rebooting',
  'pausing',
  'suspending',
  'resuming',
  'resizing',
  'rebuilding',
  'rescuing',
  'unrescuing',
  'stopped',
  'deleting',
  'unknown',
  'error',
] as const;
export type InstanceState = (typeof instanceStates)[number];

/** States that hosts report, and that an instance rests in. */
export const reportedStates = ['running', 'paused', 'suspended', 'stopped'] as const satisfies readonly InstanceState[];

/** States that an instance rests in: of one in rescue a machine that runs is called `rescued`. */
export const restingStates = [...reportedStates, 'rescued'] as const satisfies readonly InstanceState[];

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
/** Also of one whose machine is off: whether an instance is in rescue does not change with its power. */
const unrescueFirst: Refusal = {
  code: 'instance_rescued',
  detail: 'It is in rescue, and runs from another disk than its own: unrescue it first.',
};
const notRescued: Refusal = { code: 'instance_not_rescued', detail: 'It is not in rescue.' };
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
      rescued: { code: 'instance_running', detail: 'It is running already, in rescue.' },
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
      rescued: unrescueFirst,
      error: notRunning,
    },
  },
  suspend: {
    during: 'suspending',
    refusedIn: {
      stopped: stoppedStart,
      paused: pausedResume,
      suspended: { code: 'instance_suspended', detail: 'It is suspended already.' },
      rescued: unrescueFirst,
      error: notRunning,
    },
  },
  resume: {
    during: 'resuming',
    refusedIn: {
      running: { code: 'instance_running', detail: 'It is neither paused nor suspended.' },
      rescued: { code: 'instance_running', detail: 'It is neither paused nor suspended.' },
      stopped: stoppedStart,
      error: notRunning,
    },
  },
  'attach-port': { during: null, refusedIn: { paused: pausedDevices, suspended: suspendedResume } },
  'detach-port': { during: null, refusedIn: { paused: pausedDevices, suspended: suspendedResume } },
  'attach-volume': { during: null, refusedIn: { paused: pausedDevices, suspended: suspendedResume } },
  'detach-volume': { during: null, refusedIn: { paused: pausedDevices, suspended: suspendedResume } },
  nmi: {
    during: null,
    refusedIn: { stopped: stoppedStart, paused: pausedResume, suspended: suspendedResume, error: notRunning },
  },
  balloon: {
    during: null,
    refusedIn: {
      stopped: stoppedStart,
      paused: { code: 'instance_paused', detail: 'It is paused, so its guest gives and takes no memory: resume it.' },
      suspended: suspendedResume,
      rescued: unrescueFirst,
      error: notRunning,
    },
  },
  'core-dump': {
    during: null,
    refusedIn: { stopped: stoppedStart, suspended: suspendedResume, error: notRunning },
  },
  resize: {
    during: 'resizing',
    refusedIn: {
      paused: { code: 'instance_paused', detail: 'It is paused: resume it, or stop it by force first.' },
      suspended: { code: 'instance_suspended', detail: 'It is suspended: resume it and stop it first.' },
      rescued: unrescueFirst,
      error: { code: 'instance_not_stopped', detail: 'It may still run on its host: stop it by force first.' },
    },
  },
  rebuild: {
    during: 'rebuilding',
    refusedIn: {
      running: { code: 'instance_running', detail: 'It runs: stop it first, for its disk is exchanged.' },
      paused: { code: 'instance_paused', detail: 'It is paused: stop it by force first.' },
      suspended: { code: 'instance_suspended', detail: 'It is suspended: resume it and stop it first.' },
      rescued: unrescueFirst,
      error: { code: 'instance_not_stopped', detail: 'It may still run on its host: stop it by force first.' },
    },
  },
  rescue: {
    during: 'rescuing',
    refusedIn: {
      running: { code: 'instance_running', detail: 'It runs: stop it first, for it boots from another disk.' },
      paused: { code: 'instance_paused', detail: 'It is paused: stop it by force first.' },
      suspended: { code: 'instance_suspended', detail: 'It is suspended: resume it and stop it first.' },
      rescued: { code: 'instance_rescued', detail: 'It is in rescue already: unrescue it first.' },
    },
  },
  unrescue: {
    during: 'unrescuing',
    refusedIn: { running: notRescued, paused: notRescued, suspended: notRescued },
  },
  'tell-metadata': { during: null, refusedIn: {} },
} as const satisfies Record<string, VerbRule>;

export type InstanceVerb = keyof typeof instanceVerbs;

/** What of an instance decides whether a verb may be asked of it. `rescue`: null when it is not in rescue. */
export interface Asked {
  state: InstanceState;
  rescue: object | null;
}

/**
 * Why the verb is refused; undefined when it is not. One in rescue whose machine is off is refused what needs its own
 * disk, as if it ran.
 */
export const refusalOf = (verb: InstanceVerb, { state, rescue }: Asked): Refusal | undefined => {
  if (verb === 'unrescue' && rescue === null) return notRescued;
  const { refusedIn }: VerbRule = instanceVerbs[verb];
  const inRescue = rescue === null ? undefined : refusedIn.rescued;
  return inRescue?.code === unrescueFirst.code ? inRescue : refusedIn[state];
};

/**
 * Why nothing of its machine can be looked at in the state; undefined when it can. Without a machine there is none; in every
 * other state its host has the last word.
 */
export const machineRefusal = (state: InstanceState): Refusal | undefined =>
  state === 'stopped' ? stoppedStart : state === 'error' ? notRunning : undefined;
