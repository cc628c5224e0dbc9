import type { SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import type { VersionProfile } from '../../../src/modules/compute/node/drivers/simulated-vmm/profile';

/** What a case may need of a subject, besides its API. */
export const needs = {
  knobs: 'the knobs of a simulation',
  guest: 'a KVM that runs the test guest',
  button: 'a guest that sees its power button',
  eject: 'a guest that lets devices go',
  panic: 'a guest that reports its panic',
  state: "a KVM that gives a guest's state away",
} as const;
export type Need = keyof typeof needs;

/** Whose answers are compared: the simulation of one release, or a program with Cloud Hypervisor's command line. */
export interface Subject {
  name: string;
  version: VersionProfile['name'];
  /** Path of the program, and of one that behaves as the knobs say where the subject is a simulation. */
  program: (knobs: Partial<SimulationKnobs>) => string;
  /** Content of the kernel or firmware that guests are booted from. */
  guest: Buffer;
  can: ReadonlySet<Need>;
}
