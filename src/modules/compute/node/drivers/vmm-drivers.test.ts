import { mkdtemp, rm } from 'node:fs/promises';
import { pino } from 'pino';
import { Config } from '../../../../core/config/config';
import { coreConfigSchema } from '../../../../core/config/core-config';
import { StatePaths } from '../../../../core/config/state-paths';
import { Logging } from '../../../../core/telemetry/logging';
import { computeConfigSchema } from '../../contract/compute.config';
import { VmmDrivers } from './vmm-drivers';

describe('VmmDrivers', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp('/tmp/t-vmm-drivers-')));
  afterEach(() => rm(directory, { recursive: true, force: true }));
  const drivers = (section: unknown): VmmDrivers =>
    new VmmDrivers(
      new Config(coreConfigSchema.parse({}), { compute: computeConfigSchema.parse(section) }),
      new StatePaths(directory, directory),
      new Logging(pino({ enabled: false })),
    );

  it('has what is configured, and by default nothing simulated', () => {
    expect(
      drivers({})
        .all()
        .map((driver) => driver.kind),
    ).toEqual(['cloud-hypervisor', 'qemu']);
    expect(() => drivers({}).byKind('simulated')).toThrow(
      expect.objectContaining({ code: 'vmm_unknown', permanent: true }),
    );
    expect(drivers({ drivers: ['simulated'] }).byKind('simulated').kind).toBe('simulated');
  });
  it('falls back to what is usable', async () => {
    const missing = { cloudHypervisor: { binary: '/nonexistent/ch' }, qemu: { binary: '/nonexistent/qemu' } };
    expect((await drivers({ ...missing, drivers: ['cloud-hypervisor', 'qemu', 'simulated'] }).best()).kind).toBe(
      'simulated',
    );
  });
  it('takes the one that boots what is asked for, by rank', async () => {
    const both = drivers({ drivers: ['simulated', 'qemu'], accel: 'tcg' });
    const real = jest.spyOn(both.byKind('qemu'), 'probe');
    const qemu = { kind: 'qemu', version: '10', accel: 'tcg', usable: true, reason: '', capabilities: ['bios'] };
    real.mockResolvedValue(qemu);
    expect((await both.best()).kind).toBe('qemu');
    expect((await both.best({ firmware: 'bios' })).kind).toBe('qemu');
    expect((await both.best({ firmware: 'uefi' })).kind).toBe('simulated');
    real.mockResolvedValue({ ...qemu, usable: false });
    await both.inventory();
    expect((await both.best({ firmware: 'bios' })).kind).toBe('simulated');
    const only = drivers({ drivers: ['qemu'] });
    jest.spyOn(only.byKind('qemu'), 'probe').mockResolvedValue(qemu);
    await expect(only.best({ firmware: 'uefi' })).rejects.toMatchObject({ code: 'no_such_firmware', permanent: true });
  });
  it('does not start with a kind that it has no driver of', () =>
    expect(() => drivers({ drivers: ['qemu', 'hyperspace'] })).toThrow(
      /modules.compute.drivers: there is no VMM driver "hyperspace"; there are cloud-hypervisor, qemu, simulated/,
    ));
  it('says why there is none, for every VMM', async () => {
    const none = drivers({ cloudHypervisor: { binary: '/nonexistent/ch' }, qemu: { binary: '/nonexistent/qemu' } });
    await expect(none.best()).rejects.toMatchObject({
      code: 'no_usable_vmm',
      message: 'No VMM can run guests on this host.',
      detail: expect.stringMatching(/ch is not installed.*qemu is not installed/),
    });
  });
});
