import { bootsGuests, realVmm } from './real-vmm';
import { SimulatedBinary } from './simulated-binary';
import { VmmSession } from './vmm-session';
import { apiCases } from './vmm-api.suite';
import { bootCases } from './vmm-boots.suite';
import { deviceCases } from './vmm-devices.suite';
import { guestCases } from './vmm-guests.suite';
import { processCases } from './vmm-process.suite';
import { type Subject, VmmLab } from './vmm-lab';

jest.setTimeout(30_000);

/**
 * Cloud Hypervisor's API as clients must expect it, case by case: put to the simulation of each release inside this
 * process, and to a real binary where there is one on the PATH and a /dev/kvm (which it opens first of all). Where KVM
 * does not run guests, that takes all cases but the guests' own.
 */
const conform = (one: Subject): void => {
  describe(one.name, () => {
    const lab = new VmmLab(one);
    afterEach(() => lab.close());
    apiCases(one, lab);
    bootCases(lab);
    deviceCases(one, lab);
    guestCases(one, lab);
  });
};

let binary: SimulatedBinary | null = null;
afterAll(() => binary?.remove());
for (const version of ['v50', 'v53', 'head'] as const) {
  conform({
    name: `simulation of ${version}`,
    version,
    open: (knobs, stay) => VmmSession.inProcess({ version, ...knobs }, stay),
    simulated: true,
    guests: true,
  });
}
processCases('simulation', 'head', (knobs) =>
  (binary ??= new SimulatedBinary()).program(`ch-${JSON.stringify(knobs ?? {}).replace(/\W/g, '')}`, knobs),
);
const real = realVmm();
if (real) {
  // Where KVM itself is emulated everything takes its time.
  jest.setTimeout(180_000);
  const { binary: path, profile: version } = real;
  processCases('cloud-hypervisor', version, () => path);
  conform({
    name: 'cloud-hypervisor',
    version,
    open: (_knobs, stay) => VmmSession.program(path, { args: stay ? ['--no-shutdown'] : [] }),
    simulated: false,
    guests: bootsGuests(real),
  });
} else {
  describe('cloud-hypervisor', () => it.skip('needs cloud-hypervisor on the PATH and /dev/kvm', () => undefined));
}

it('65: before v53 a stale socket is an error', async () => {
  binary ??= new SimulatedBinary();
  const old = binary.program('ch-v50', { version: 'v50' });
  const first = await VmmSession.program(old);
  try {
    await first.kill();
    const second = await VmmSession.program(old, { directory: first.directory });
    expect(await second.ended).toBe(1);
    expect(second.errors()).toContain('Address already in use (os error 98)');
  } finally {
    await first.close();
  }
});
