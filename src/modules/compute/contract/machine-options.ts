import { z } from 'zod';
import { type AskedOfHardware, capabilitiesForHardware } from './hardware';
import { capabilitiesForLimits, type Limits, noLimits } from './limits';
import type { VmmCapability } from './vmm-capabilities';

/**
 * What becomes of a machine whose watchdog fired, or whose guest panicked. `restart`: its guest begins anew, within the
 * host's budget of restarts. `stop`: it stands still at once, and is off. `notify`: it goes on, and it is told.
 */
export const machineActions = ['restart', 'stop', 'notify'] as const;
export type MachineAction = (typeof machineActions)[number];

/**
 * What users may ask of the machine itself, from its create on. Each by the capability that a VMM must have for it: a
 * host without one gets no such instance.
 */
const machineSwitches = {
  /** Starts only what is signed by a key that its firmware trusts. It boots by UEFI then. */
  secureBoot: 'secure-boot',
  /** A TPM 2.0 of its own, whose secrets stay with the instance until it is deleted. */
  tpm: 'tpm',
  /** A balloon: memory that its guest frees goes back to the host, which can take back more. */
  balloon: 'balloon',
  /** Its guest is reached at a port of its own without a network (VIRTIO sockets). */
  vsock: 'vsock',
} as const satisfies Record<string, VmmCapability>;

/** As the switches, with what each does. */
const machinePolicies = {
  /** A device that fires unless the guest, once it has begun to, goes on telling it that it is well. */
  watchdog: { restart: 'watchdog-restart', stop: 'watchdog-stop', notify: 'watchdog-notify' },
  /** A device by which the guest's kernel says that it cannot go on. */
  panic: { restart: 'panic-policy', stop: 'panic-policy', notify: 'panic-policy' },
} as const satisfies Record<string, Record<MachineAction, VmmCapability>>;

type MachineSwitch = keyof typeof machineSwitches;
type MachinePolicy = keyof typeof machinePolicies;
/** Those that are asked for; nothing is said of the others. */
export type AskedOfMachine = Partial<Record<MachineSwitch, true> & Record<MachinePolicy, MachineAction>>;

const switchNames = Object.keys(machineSwitches) as MachineSwitch[];
const policyNames = Object.keys(machinePolicies) as MachinePolicy[];

const action = z.enum(machineActions);

/** In requests: each on or off, off when missing; a policy is off when it is null. */
export const machineInput = z
  .strictObject({
    secureBoot: z.boolean().default(false),
    tpm: z.boolean().default(false),
    balloon: z.boolean().default(false),
    vsock: z.boolean().default(false),
    watchdog: action.nullable().default(null),
    panic: action.nullable().default(null),
  })
  .prefault({});
/** In answers: all of them. */
export const machineShown = z.object({
  secureBoot: z.boolean(),
  tpm: z.boolean(),
  balloon: z.boolean(),
  vsock: z.boolean(),
  watchdog: action.nullable(),
  panic: action.nullable(),
});
/** In specifications for hosts: those that are asked for. */
export const machineAsked = z
  .object({
    secureBoot: z.literal(true),
    tpm: z.literal(true),
    balloon: z.literal(true),
    vsock: z.literal(true),
    watchdog: action,
    panic: action,
  })
  .partial();

export const askedOfMachine = (
  options: Readonly<Partial<Record<MachineSwitch, boolean> & Record<MachinePolicy, MachineAction | null>>>,
): AskedOfMachine => ({
  ...Object.fromEntries(switchNames.filter((name) => options[name] === true).map((name) => [name, true])),
  ...Object.fromEntries(policyNames.flatMap((name) => (options[name] ? [[name, options[name]]] : []))),
});

/** Of a machine that somebody looks at: nothing is done about it by itself. */
export const withoutPolicies = ({ watchdog: _watchdog, panic: _panic, ...rest }: AskedOfMachine): AskedOfMachine =>
  rest;

/** What boots an image in such a machine: only a UEFI refuses what is not signed. */
export const bootedBy = <F extends string>(
  { firmware }: { firmware: F },
  { machine }: { machine: AskedOfMachine },
): F | 'uefi' => (machine.secureBoot === true ? 'uefi' : firmware);

export const shownOfMachine = (asked: AskedOfMachine): z.infer<typeof machineShown> => ({
  secureBoot: asked.secureBoot === true,
  tpm: asked.tpm === true,
  balloon: asked.balloon === true,
  vsock: asked.vsock === true,
  watchdog: asked.watchdog ?? null,
  panic: asked.panic ?? null,
});

/** The capabilities that a VMM needs for what is asked of a machine. */
export const capabilitiesFor = ({
  machine: asked = {},
  limits = noLimits,
  hardware = {},
  shares = [],
}: {
  machine?: AskedOfMachine | undefined;
  limits?: Limits | undefined;
  hardware?: AskedOfHardware | undefined;
  /** Directories of its host. */
  shares?: readonly unknown[] | undefined;
}): VmmCapability[] => [
  ...switchNames.filter((name) => asked[name] === true).map((name) => machineSwitches[name]),
  ...policyNames.flatMap((name) => {
    const wanted = asked[name];
    return wanted === undefined ? [] : [machinePolicies[name][wanted]];
  }),
  ...capabilitiesForLimits(limits),
  ...capabilitiesForHardware(hardware),
  ...(shares.length > 0 ? (['virtio-fs'] as const) : []),
];
