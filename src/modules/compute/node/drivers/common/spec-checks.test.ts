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

  describe('of shares', () => {
    const share = { tag: 'media', path: '/srv/media', readonly: false, user: 7, group: 7 };
    const check = (change: Partial<VmSpec>, runDir = '/run/i'): void =>
      checkSpec({ ...spec(runDir), hardware: { sharedMemory: true }, shares: [share], ...change }, []);

    it('takes up to four, each with a name of its own', () => {
      expect(() => check({})).not.toThrow();
      const four = ['a', 'b', 'c', 'd'].map((tag) => ({ ...share, tag }));
      expect(() => check({ shares: four })).not.toThrow();
      expect(() => check({ shares: [...four, share] })).toThrow('4 are possible');
      expect(() => check({ shares: [share, share] })).toThrow('one name');
    });
    it.each<[Partial<VmSpec>, string]>([
      [{ hardware: {} }, 'memory that is shared'],
      [{ shares: [{ ...share, tag: 'a,readonly=off' }] }, 'not the name of a share'],
      [{ shares: [{ ...share, path: 'srv' }] }, 'no absolute path'],
      [{ shares: [{ ...share, user: 0 }] }, 'by root'],
    ])('refuses %j', (change, why) => expect(() => check(change)).toThrow(why));
    it('counts the path of the socket of each', () => {
      const longest = `/${'r'.repeat(107 - '/'.length - '/f/0/s'.length)}`;
      expect(() => check({}, longest)).not.toThrow();
      expect(() => check({}, `${longest}r`)).toThrow('has 108 bytes');
    });
  });
});
