import type { VmSpec } from '../vmm-driver';
import { chConfig } from './ch-config';

const id = '0b8e9d1a-7f7b-4d0e-9a55-2f60c1aabbcc';
const spec: VmSpec = {
  instanceId: id,
  name: 'a',
  vcpus: 1,
  memoryBytes: 2 ** 28,
  disks: [],
  nics: [],
  netns: null,
  user: 1_000_000,
  runDir: '/run/a',
  logDir: '/log',
};
const platform = (names: boolean): unknown =>
  chConfig(spec, { firmware: '/fw', kernel: '', cmdline: '' }, { landlock: false, names }).platform;

describe('the firmware’s tables', () => {
  it('name the machine so that agents of guests look for metadata, and know the instance again', () =>
    expect(platform(true)).toEqual({
      system_manufacturer: 'VC Stack',
      system_product_name: 'OpenStack Compute',
      system_serial_number: id,
      system_uuid: id,
    }));
  it('hold a seed where the VMM takes no names', () =>
    expect(platform(false)).toEqual({ serial_number: 'ds=nocloud-net;s=http://169.254.169.254/nocloud/', uuid: id }));
});

describe('what boots', () => {
  const payload = (kernel?: VmSpec['kernel']): unknown =>
    chConfig(
      { ...spec, ...(kernel && { kernel }) },
      { firmware: '/fw', kernel: '', cmdline: '' },
      { landlock: true, names: true },
    ).payload;
  it('is what the host has for disks, or else the kernel of the image alone', () => {
    expect(payload()).toEqual({ firmware: '/fw' });
    expect(payload({ path: '/k', initramfs: '/i', commandLine: 'quiet' })).toEqual({
      kernel: '/k',
      initramfs: '/i',
      cmdline: 'quiet',
    });
    expect(payload({ path: '/k', initramfs: null, commandLine: '' })).toEqual({ kernel: '/k', cmdline: '' });
  });
});
