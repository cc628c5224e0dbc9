/**
 * What a guest did to a machine that goes on running. `panic`: its kernel said that it cannot go on. `reset`: it
 * restarted itself, in the same VMM.
 */
export interface GuestEvent {
  kind: 'panic' | 'reset';
  /** Milliseconds since 1970, by the host's clock. */
  at: number;
}
