import type { VmSpec } from '../vmm-driver';
import { checkSpec } from './spec-checks';

describe('checkSpec', () => {
  const spec = (runDir: string): VmSpec => ({
    instanceId: 'i',
    name: 'n',
    vcpus: 1,
    memoryBytes: 64 * 1024 * 1024,
    disks: [],
    nics: [],
    netns: null,
    user: 1_000_000,
    runDir,
    logDir: '/log',
  });

  it('counts the whole path of a socket, with the folder that it lies in', () => {
    const longest = `/${'r'.repeat(107 - '/'.length - '/s/vnc.sock'.length)}`;
    expect(() => checkSpec(spec(longest), ['vnc.sock'])).not.toThrow();
    expect(() => checkSpec(spec(`${longest}r`), ['vnc.sock'])).toThrow('has 108 bytes');
  });
});
