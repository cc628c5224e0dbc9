import type { VersionProfile } from './profile';

/** How a simulated VMM and its guest behave. Times in milliseconds. */
export interface SimulationKnobs {
  version: VersionProfile['name'];
  /** Files, locks and sockets of the host are used; `none` keeps everything in memory, for thousands of VMs. */
  resources: 'real' | 'none';
  /** The guest powers off `powerOffMs` after its power button was pressed, or ignores it. */
  obeyPowerButton: boolean;
  powerOffMs: number;
  /** The guest has drivers for virtio devices, and so activates them. */
  drivers: boolean;
  /** How long the guest takes to let a removed device go; null: never. */
  ejectMs: number | null;
  /** How long the guest takes to give vCPUs back; null: never. */
  onlineMs: number | null;
  /** How long the watchdog waits for a guest that has told it once that it is well. */
  watchdogMs: number;
  /** Extra time of an endpoint, by its name (`vm.boot`). Every other call waits meanwhile. */
  latencyMs: Record<string, number>;
  /** The process ends at this call instead of answering. */
  crashAt: { endpoint: string; exit: number | NodeJS.Signals } | null;
  /** Share of the events that get lost, 0 to 1. */
  eventLoss: number;
  /** The kernel's Landlock has all that the VMM insists on (Linux 6.2); else a vm.create that asks for it fails. */
  landlock: boolean;
  /** It is a build for debugging, with `vm.coredump`. */
  guestDebug: boolean;
  /** Connections are accepted and nothing is answered. */
  stalled: boolean;
}

export const defaultKnobs: SimulationKnobs = {
  version: 'v54',
  resources: 'real',
  obeyPowerButton: true,
  powerOffMs: 0,
  drivers: true,
  ejectMs: 0,
  onlineMs: 50,
  watchdogMs: 30_000,
  latencyMs: {},
  crashAt: null,
  eventLoss: 0,
  landlock: true,
  guestDebug: false,
  stalled: false,
};
