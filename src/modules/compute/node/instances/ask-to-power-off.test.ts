import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import { askToPowerOff } from './ask-to-power-off';
import type { VmHandle, VmmDriver } from '../drivers/vmm-driver';
import { poweredOff, type VmExit } from '../drivers/vmm-exit';

const handle = { instanceId: 'i' } as VmHandle;
const off = poweredOff(true);

/** A guest that heeds its button from the given press on; `failing`: what the presses say meanwhile. */
const guest = (
  heedsFrom: number,
  failing?: (press: number) => void,
): { driver: VmmDriver; exit: Promise<VmExit>; presses: () => number } => {
  let presses = 0;
  let end: (exit: VmExit) => void = () => undefined;
  const exit = new Promise<VmExit>((resolve) => (end = resolve));
  const powerButton = async (): Promise<void> => {
    presses += 1;
    if (presses >= heedsFrom) end(off);
    failing?.(presses);
  };
  return { driver: { powerButton } as unknown as VmmDriver, exit, presses: () => presses };
};
const never = new AbortController().signal;

describe('asking a guest to power off', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('presses once where the guest heeds its button', async () => {
    const { driver, exit, presses } = guest(1);
    expect(await askToPowerOff(driver, handle, exit, 30_000, never)).toEqual(off);
    expect(presses()).toBe(1);
  });

  it('presses again, for a guest that was still booting', async () => {
    const { driver, exit, presses } = guest(3);
    const asked = askToPowerOff(driver, handle, exit, 30_000, never);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(await asked).toEqual(off);
    expect(presses()).toBe(3);
  });

  it('gives up when the time is over, and not before', async () => {
    const { driver, exit, presses } = guest(Infinity);
    let settled = false;
    const asked = askToPowerOff(driver, handle, exit, 12_000, never).finally(() => (settled = true));
    await jest.advanceTimersByTimeAsync(11_999);
    expect(settled).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(await asked).toBeNull();
    expect(presses()).toBe(3);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('stops when something else is asked of the machine', async () => {
    const { driver, exit, presses } = guest(Infinity);
    const something = new AbortController();
    const asked = askToPowerOff(driver, handle, exit, 600_000, something.signal);
    await jest.advanceTimersByTimeAsync(6000);
    something.abort();
    expect(await asked).toBeNull();
    expect(presses()).toBe(2);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('takes the end of a machine in the middle of a press for what it is', async () => {
    const gone = (): never => {
      throw new VerbFailure('not_running', 'The VM is not running.', true);
    };
    const { driver, exit } = guest(2, (press) => press === 2 && gone());
    const asked = askToPowerOff(driver, handle, exit, 30_000, never);
    await jest.advanceTimersByTimeAsync(5000);
    expect(await asked).toEqual(off);
    await expect(
      askToPowerOff(guest(9, gone).driver, handle, new Promise(() => undefined), 30_000, never),
    ).rejects.toThrow('not running');
  });
});
