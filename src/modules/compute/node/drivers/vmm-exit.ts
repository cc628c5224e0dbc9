import { z } from 'zod';

/**
 * What ended a machine. Its guest: `guest-power-off`. Us: `power-button` (the guest obeyed), `forced`,
 * `suspended` (its memory is kept). Nobody who should
 * have: `oom-killed` (the kernel needed its memory), `seccomp` (its VMM made a system call that it may not), `killed` by
 * another signal, `exited` with a code, `vmm-error` (the VMM runs and its machine cannot), `guest-panic` and
 * `watchdog` (and it was ended, by its policy), `host-restarted`,
 * `start-failed`, `unknown` (nobody saw it).
 */
const exitReasons = [
  'guest-power-off',
  'power-button',
  'forced',
  'suspended',
  'exited',
  'killed',
  'oom-killed',
  'seccomp',
  'vmm-error',
  'guest-panic',
  'watchdog',
  'host-restarted',
  'start-failed',
  'unknown',
] as const;
export type ExitReason = (typeof exitReasons)[number];

/** What was known before there were reasons. */
const formerReasons: Record<string, ExitReason> = {
  guest: 'guest-power-off',
  operator: 'power-button',
  forced: 'forced',
};

/** As it lies in files. A reason that this build does not know is none that it can act on. */
export const vmmExit = z
  .object({
    /** `guest`: powered off from inside. `forced`/`operator`: by us. `crashed`: anything else. */
    cause: z.enum(['guest', 'operator', 'forced', 'crashed']),
    /** In words, for its users. */
    detail: z.string(),
    reason: z.string().optional(),
    /** Of a VMM that exited by itself. */
    code: z.number().int().nullable().default(null),
    /** That ended its VMM, by name (`SIGKILL`). */
    signal: z.string().nullable().default(null),
  })
  .transform(({ reason, ...exit }) => ({
    ...exit,
    reason: exitReasons.find((one) => one === reason) ?? formerReasons[exit.cause] ?? ('unknown' as const),
  }));
export type VmExit = z.output<typeof vmmExit>;

const plain = { code: null, signal: null } as const;

/** A failure, that nobody asked for. */
export const crashed = (
  reason: ExitReason,
  detail: string,
  how: Partial<Pick<VmExit, 'code' | 'signal'>> = {},
): VmExit => ({ ...plain, ...how, cause: 'crashed', reason, detail });

/** Its guest panicked, and it was to be ended then. */
export const panickedExit = crashed('guest-panic', 'its guest panicked');
/** Its watchdog fired, and it was to be ended then. */
export const watchdogExit = crashed('watchdog', 'its watchdog fired');

/** Its memory is kept: it goes on from there. */
export const suspendedExit: VmExit = {
  ...plain,
  cause: 'operator',
  reason: 'suspended',
  detail: 'its memory is kept on the disk of its host',
};

/**
 * Of a VM that was killed because it was to be off; the same words whoever records it, the driver or an agent that was
 * restarted meanwhile.
 */
export const forcedExit: VmExit = {
  ...plain,
  cause: 'forced',
  reason: 'forced',
  detail: 'the VM was ended by its host',
};

/** Of a guest that powered off: by itself, or because its power button was pressed. */
export const poweredOff = (asked: boolean): VmExit =>
  asked
    ? { ...plain, cause: 'operator', reason: 'power-button', detail: 'the guest powered off at its power button' }
    : { ...plain, cause: 'guest', reason: 'guest-power-off', detail: 'the guest powered itself off' };
