import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

/** So much to compute takes an ordinary processor that is not busy so many milliseconds. */
const work = { iterations: 100_000, usualMs: 40 } as const;
/** A host that is slower than this times the usual is too slow to tell from one whose guests hang. */
const slowest = 10;

const usual = { silence: 6000, longest: 20_000 } as const;

/** How long a trial guest is waited for. Milliseconds. */
export interface TrialPatience {
  /** Without a sign of life: a kernel that hangs prints nothing more. */
  silence: number;
  longest: number;
}

/** @param tookMs how long the work took */
export const patienceFor = (tookMs: number): TrialPatience => {
  const pace = Math.min(slowest, Math.max(1, tookMs / work.usualMs));
  return { silence: Math.round(usual.silence * pace), longest: Math.round(usual.longest * pace) };
};

/**
 * As long as a guest may take on this host as it is now. An emulated processor, or one that many others want, needs many
 * times as long as another for the same kernel, and a guest on it does not hang: what it takes to compute is measured.
 */
export const trialPatience = async (): Promise<TrialPatience> => {
  const from = performance.now();
  await derive('trial', 'trial', work.iterations, 64, 'sha512');
  return patienceFor(performance.now() - from);
};
