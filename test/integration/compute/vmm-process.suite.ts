import { existsSync } from 'node:fs';
import type { SimulationKnobs } from '../../../src/modules/compute/node/drivers/simulated-vmm/knobs';
import { type VersionProfile } from '../../../src/modules/compute/node/drivers/simulated-vmm/profile';
import { VmmSession } from './vmm-session';
import { expectError, expectTail, VmmLab } from './vmm-lab';

/** What is seen of the program itself: its socket, its end. */
export const processCases = (
  name: string,
  version: VersionProfile['name'],
  path: (knobs?: Partial<SimulationKnobs>) => string,
): void => {
  describe(`${name} as a process`, () => {
    const lab = new VmmLab({ version, open: (knobs) => launch(knobs) });
    afterEach(() => lab.close());
    const launch = async (
      knobs?: Partial<SimulationKnobs>,
      options: { args?: string[]; directory?: string } = {},
    ): Promise<VmmSession> => {
      return lab.keep(await VmmSession.program(path(knobs), options));
    };

    it('1, 2, 16, 18 to 20, 23, 24, 27: the same answers, and an orderly end', async () => {
      await launch();
      expect(JSON.parse((await lab.session.get('vmm.ping')).text)).toMatchObject({ pid: lab.session.pid });
      expectError(await lab.session.get('nope'), 404, ['Not Found']);
      expectTail(await lab.session.get('vm.info'), lab.status('missing'), 'VM is not created');
      expectTail(await lab.session.put('vm.boot'), lab.status('missing'), 'VM config is missing');
      expectTail(await lab.session.put('vm.pause'), 500, 'VM is not running');
      expectTail(await lab.session.put('vm.reboot'), lab.status('missing'), 'VM is not created');
      await lab.session.put('vm.create', { console: { mode: 'Off' } });
      expectTail(await lab.session.put('vm.create', {}), 500, 'VM is already created');
      expectTail(
        await lab.session.put('vm.boot'),
        lab.status('validation'),
        'Payload configuration is not bootable',
        'No bootitem provided: neither firmware nor kernel',
      );
      await lab.session.put('vmm.shutdown').catch(() => undefined);
      expect(await lab.session.ended).toBe(0);
      expect(lab.session.eventNames().at(-1)).toBe('vmm/shutdown');
      expect(existsSync(lab.session.socket)).toBe(false);
      expect(existsSync(`${lab.session.socket}.lock`)).toBe(true);
    });
    it('39: a panic of the VMM thread', async () => {
      await launch();
      expectTail(
        await lab.session.put('vm.create', { serial: { mode: 'File' } }),
        500,
        'receiving on a closed channel',
      );
      expect(await lab.session.ended).toBe(1);
    });
    it('65: SIGTERM is orderly; after SIGKILL the socket stays and the next one removes it', async () => {
      await launch();
      process.kill(lab.session.pid, 'SIGTERM');
      expect(await lab.session.ended).toBe(0);
      expect(lab.session.eventNames().at(-1)).toBe('vmm/shutdown');
      const { directory } = lab.session;
      const second = await launch(undefined, { directory });
      await second.kill();
      expect(existsSync(second.socket)).toBe(true);
      const third = await launch(undefined, { directory });
      expect((await third.get('vmm.ping')).status).toBe(200);
    });
    it('66: a second instance on a live socket', async () => {
      const first = await launch();
      const second = await VmmSession.program(path(), { directory: first.directory });
      expect(await second.ended).toBe(1);
      expect(second.errors()).toContain(`API socket "${first.socket}" is already in use by another running instance`);
      expect((await first.get('vmm.ping')).status).toBe(200);
    });
  });
};
