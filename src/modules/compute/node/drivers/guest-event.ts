/**
 * What a guest did to a machine that goes on running. `panic`: its kernel said that it cannot go on. `watchdog`: it did
 * not tell its watchdog in time that it is well. `reset`: it restarted itself, or its watchdog did, in the same VMM.
 */
export interface GuestEvent {
  kind: 'panic' | 'watchdog' | 'reset';
  /** Milliseconds since 1970, by the host's clock. */
  at: number;
  /** Read from what the VMM wrote down: it may have been told before. */
  written?: true;
  /** A reset followed it: it is over. */
  over?: true;
  /** The VMM has stopped the machine for it, as it was told to: how it ended follows. */
  stopped?: true;
}
