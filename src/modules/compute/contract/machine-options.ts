import { z } from 'zod';
import type { VmmCapability } from './vmm-capabilities';

/**
 * What users may ask of the machine itself, from its create on. Each by the capability that a VMM must have for it: a
 * host without one gets no such instance.
 */
const machineOptions = {
  /** Starts only what is signed by a key that its firmware trusts. It boots by UEFI then. */
  secureBoot: 'secure-boot',
  /** A TPM 2.0 of its own, whose secrets stay with the instance until it is deleted. */
  tpm: 'tpm',
} as const satisfies Record<string, VmmCapability>;

export type MachineOption = keyof typeof machineOptions;
/** Those that are asked for; nothing is said of the others. */
export type AskedOfMachine = Partial<Record<MachineOption, true>>;

const optionNames = Object.keys(machineOptions) as MachineOption[];

/** In requests: each on or off, off when missing. */
export const machineInput = z
  .strictObject({ secureBoot: z.boolean().default(false), tpm: z.boolean().default(false) })
  .default({ secureBoot: false, tpm: false });
/** In answers: all of them. */
export const machineShown = z.object({ secureBoot: z.boolean(), tpm: z.boolean() });
/** In specifications for hosts: those that are asked for. */
export const machineAsked = z.object({ secureBoot: z.literal(true), tpm: z.literal(true) }).partial();

export const askedOfMachine = (options: Readonly<Partial<Record<MachineOption, boolean>>>): AskedOfMachine =>
  Object.fromEntries(optionNames.filter((name) => options[name] === true).map((name) => [name, true]));

/** What boots an image in such a machine: only a UEFI refuses what is not signed. */
export const bootedBy = <F extends string>(
  { firmware }: { firmware: F },
  { machine }: { machine: AskedOfMachine },
): F | 'uefi' => (machine.secureBoot === true ? 'uefi' : firmware);

export const shownOfMachine = (asked: AskedOfMachine): z.infer<typeof machineShown> => ({
  secureBoot: asked.secureBoot === true,
  tpm: asked.tpm === true,
});

/** The capabilities that a VMM needs for what is asked for. */
export const capabilitiesFor = (asked: AskedOfMachine): VmmCapability[] =>
  optionNames.filter((name) => asked[name] === true).map((name) => machineOptions[name]);
