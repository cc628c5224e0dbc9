import { bootsGuests, realVmm } from '../integration/compute/real-vmm';
import { pvhGuest } from '../integration/compute/pvh-guest';
import { conform } from './lab/conform';
import { plainGuest } from './lab/plain-guest';
import { givesState } from './lab/gives-state';
import type { Need, Subject } from './lab/subject';

// Where KVM itself is emulated everything takes its time.
jest.setTimeout(180_000);

/** What the machine lets the program's guests do, found by trying. */
const found = (binary: string): Pick<Subject, 'guest' | 'can'> => {
  const whole = bootsGuests({ binary });
  const plain = whole || bootsGuests({ binary }, plainGuest());
  const can = new Set<Need>();
  if (plain) can.add('guest');
  if (plain) can.add('panic');
  if (whole) can.add('button');
  if (plain && givesState(binary)) can.add('state');
  return { guest: whole ? pvhGuest() : plainGuest(), can };
};

/** All cases put to a real Cloud Hypervisor: the one given, named or on the PATH. */
const real = realVmm();
if (real)
  conform({
    name: `cloud-hypervisor (as of ${real.profile})`,
    version: real.profile,
    program: () => real.binary,
    ...found(real.binary),
  });
else
  describe('cloud-hypervisor', () =>
    it.skip('all cases: need a binary (--binary, VC_CLOUD_HYPERVISOR or the PATH) and /dev/kvm', () => undefined));
