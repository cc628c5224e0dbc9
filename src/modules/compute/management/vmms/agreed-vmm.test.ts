import { Problem } from '../../../../core/errors/problem';
import { agreedVmm, type AskedVmms } from './agreed-vmm';

const asked = (over: Partial<AskedVmms>): AskedVmms => ({ instance: null, flavor: null, image: null, ...over });
const refusal = (over: Partial<AskedVmms>): unknown => {
  try {
    return agreedVmm(asked(over));
  } catch (error) {
    return error instanceof Problem ? error.errors[0] : error;
  }
};

it.each([
  [{}, null],
  [{ image: 'qemu' }, { kind: 'qemu', path: 'body.image' }],
  [{ flavor: 'qemu' }, { kind: 'qemu', path: 'body.flavor' }],
  [
    { instance: 'qemu', flavor: 'qemu', image: 'qemu' },
    { kind: 'qemu', path: 'body.vmm' },
  ],
  [
    { flavor: 'qemu', image: 'qemu' },
    { kind: 'qemu', path: 'body.flavor' },
  ],
])('is what all who ask for one agree on: %j', (over, expected) => expect(agreedVmm(asked(over))).toEqual(expected));

it.each([
  [
    { instance: 'qemu', flavor: 'simulated' },
    'body.vmm',
    'other_vmm_of_flavor',
    'You ask for qemu, and the flavor for simulated: leave the VMM out, or choose another flavor.',
  ],
  [
    { instance: 'qemu', image: 'simulated' },
    'body.vmm',
    'other_vmm_of_image',
    'You ask for qemu, and the image for simulated: leave the VMM out, or choose another image.',
  ],
  [
    { flavor: 'qemu', image: 'simulated' },
    'body.image',
    'other_vmm_of_image',
    'The flavor asks for qemu, and the image for simulated: choose another image.',
  ],
])('names who asked for what when they contradict each other: %j', (over, path, code, message) =>
  expect(refusal(over)).toEqual({ path, code, message }),
);
