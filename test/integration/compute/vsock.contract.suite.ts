import type { Socket } from 'node:net';
import type { VmHandle, VmSpec, VmmDriver } from '../../../src/modules/compute/node/drivers/vmm-driver';
import type { ContractSubject } from './driver.contract.suite';
import type { SerialClient } from './serial-client';

interface Started {
  driver: VmmDriver;
  handle: VmHandle;
  serial: SerialClient;
}

/** At which the simulated guest sends back what comes. */
const echo = 7;

/** Ways to ports of guests, where the VMM has any: the same for every driver. */
export const vsockContract = (
  subject: () => ContractSubject,
  specOf: () => VmSpec,
  start: (change?: Partial<VmSpec>) => Promise<Started>,
  awaitGuest: (serial: SerialClient) => Promise<void>,
): void => {
  describe('vsock', () => {
    const machine = { vsock: true as const };
    const has = async (): Promise<boolean> => (await subject().make().probe()).capabilities.includes('vsock');
    /** A guest without an operating system has no driver; the simulated one has. */
    const hasDriver = ({ kind }: VmmDriver): boolean => kind === 'simulated' || subject().holdsDevices !== true;
    const says = async (stream: Socket, text: string): Promise<string> => {
      let heard = '';
      stream.write(text);
      for await (const chunk of stream) {
        heard += String(chunk);
        if (heard.length >= text.length) break;
      }
      return heard;
    };

    it('reaches what listens in its guest, several at a time, and says when nothing does', async () => {
      if (!(await has())) return;
      const { driver, handle, serial } = await start({ machine });
      await awaitGuest(serial);
      if (!hasDriver(driver)) {
        await expect(driver.vsock(handle, echo)).rejects.toMatchObject({ code: 'vsock_silent' });
        return;
      }
      const [one, other] = [await driver.vsock(handle, echo), await subject().make().vsock(handle, echo)];
      expect(await Promise.all([says(one, 'first'), says(other, 'x'.repeat(100_000))])).toEqual([
        'first',
        'x'.repeat(100_000),
      ]);
      await expect(driver.vsock(handle, 22)).rejects.toMatchObject({ code: 'vsock_refused', permanent: true });
    });

    it('is there again after a reset and a suspension, ends with its machine, and leaves no socket', async () => {
      if (!(await has())) return;
      const spec = { ...specOf(), machine };
      const { driver, handle, serial } = await start(spec);
      await awaitGuest(serial);
      if (!hasDriver(driver)) return;
      const stream = await driver.vsock(handle, echo);
      const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
      stream.resume();
      await driver.reset(handle);
      await closed;
      expect(await says(await driver.vsock(handle, echo), 'again')).toBe('again');
      await driver.suspend(handle, spec.memoryBytes);
      const later = await start({ ...spec, suspended: true });
      expect(await says(await later.driver.vsock(later.handle, echo), 'later')).toBe('later');
      await later.driver.kill(later.handle);
      await expect(later.driver.vsock(later.handle, echo)).rejects.toMatchObject({ code: 'not_running' });
    });

    it('is refused where it is not: before the start, and by a machine without', async () => {
      const refusal = { name: 'VerbFailure', permanent: true };
      if (!(await has()))
        await expect(start({ machine })).rejects.toMatchObject({ ...refusal, code: 'no_such_machine' });
      const { driver, handle } = await start();
      await expect(driver.vsock(handle, echo)).rejects.toMatchObject({ ...refusal, code: 'no_vsock' });
    });
  });
};
