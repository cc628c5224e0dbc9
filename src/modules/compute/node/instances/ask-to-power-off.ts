import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { VmHandle, VmmDriver } from '../drivers/vmm-driver';
import type { VmExit } from '../drivers/vmm-exit';

/**
 * Milliseconds between two presses. A guest that heeds its button is off or on its way well before, and one on its way
 * does not mind another press; one that is still in its firmware or its first seconds never saw the press before.
 */
const pressEveryMs = 5000;

/** Resolves after `ms`, or when aborted. */
const pause = (ms: number, aborted: AbortSignal): { over: Promise<null>; cancel: () => void } => {
  let cancel: () => void = () => undefined;
  const over = new Promise<null>((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    const stop = (): void => resolve(null);
    aborted.addEventListener('abort', stop, { once: true });
    cancel = () => {
      clearTimeout(timer);
      aborted.removeEventListener('abort', stop);
    };
  });
  return { over, cancel };
};

/**
 * Presses the guest's power button, again and again until it is off or the time is over.
 * @param exit resolves when the machine has ended
 * @param graceMs the longest wait
 * @returns how it ended; null when it did not within the time, or when aborted
 */
export const askToPowerOff = async (
  driver: VmmDriver,
  handle: VmHandle,
  exit: Promise<VmExit>,
  graceMs: number,
  aborted: AbortSignal,
): Promise<VmExit | null> => {
  const end = Date.now() + graceMs;
  for (let first = true; !aborted.aborted; first = false) {
    await driver.powerButton(handle).catch((error: unknown) => {
      // Only the first must be heard. Later it may end in the middle of a press, and `exit` says how.
      if (first || !(error instanceof VerbFailure)) throw error;
    });
    const left = end - Date.now();
    const wait = pause(Math.max(0, Math.min(pressEveryMs, left)), aborted);
    const ended = await Promise.race([exit, wait.over]).finally(wait.cancel);
    if (ended || left <= pressEveryMs) return ended;
  }
  return null;
};
