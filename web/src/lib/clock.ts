/** Time as the state machines of this folder see it, so that their tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970. */
  now: () => number;
  /** From 0 to below 1. */
  random: () => number;
  after: (ms: number, run: () => void) => Timer;
}

export interface Timer {
  cancel: () => void;
}

export const browserClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  after: (ms, run) => {
    const id = setTimeout(run, ms);
    return { cancel: () => clearTimeout(id) };
  },
};
