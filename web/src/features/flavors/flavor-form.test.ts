import { bodyOf, commandOptions, emptyFlavor, problemsOf, type FlavorDraft } from './flavor-form';

const draft = (part: Partial<FlavorDraft> = {}): FlavorDraft => ({ ...emptyFlavor, name: 'small', ...part });

describe('the form of a flavor', () => {
  it('asks for what was filled in, in bytes', () => {
    expect(bodyOf(draft({ vcpus: '2', memory: '4 GiB', disk: '10', vmm: ' qemu ', description: 'web' }))).toEqual({
      name: 'small',
      vcpus: 2,
      memoryBytes: 4 * 2 ** 30,
      diskBytes: 10 * 2 ** 30,
      vmm: 'qemu',
      description: 'web',
    });
    expect(bodyOf(draft())).toEqual({ name: 'small', vcpus: 1, memoryBytes: 512 * 2 ** 20, diskBytes: 0 });
  });

  it.each<[Partial<FlavorDraft>, string]>([
    [{ name: '' }, 'name'],
    [{ vcpus: '0' }, 'vcpus'],
    [{ vcpus: '1.5' }, 'vcpus'],
    [{ vcpus: '1025' }, 'vcpus'],
    [{ memory: '63 MiB' }, 'memoryBytes'],
    [{ memory: 'much' }, 'memoryBytes'],
    [{ disk: 'large' }, 'diskBytes'],
    [{ diskIops: '9' }, 'limits.disk.iops'],
    [{ diskRate: '127 KiB' }, 'limits.disk.bytesPerSecond'],
    [{ nicRate: 'fast' }, 'limits.nic.bytesPerSecond'],
    [{ nicRate: '1 GiB', burst: '61' }, 'limits.disk.burstSeconds'],
    [{ burst: '5' }, 'limits.disk.burstSeconds'],
    [{ cpuModel: 'EPYC,+svm' }, 'hardware.cpuModel'],
    [{ pageSize: '2MiB', memory: '513 MiB' }, 'memoryBytes'],
    [{ pageSize: '1GiB' }, 'memoryBytes'],
    [{ numaNodes: '1' }, 'hardware.numaNodes'],
    [{ dedicatedCpus: true, numaNodes: '17', vcpus: '17' }, 'hardware.numaNodes'],
    [{ dedicatedCpus: true, numaNodes: '2', vcpus: '3' }, 'hardware.numaNodes'],
    [{ dedicatedCpus: true, numaNodes: '1', pageSize: '2MiB' }, 'hardware.numaNodes'],
  ])('says what is wrong with %j, and asks for nothing', (part, member) => {
    const problems = problemsOf(draft(part));
    expect(Object.keys(problems).filter((key) => problems[key] !== null)).toEqual([member]);
    expect(bodyOf(draft(part))).toBeNull();
  });

  it('asks for limits, and shows their options', () => {
    const limited = draft({ diskIops: '500', diskRate: '100 MiB', nicRate: '1 GiB', burst: '5' });
    expect(bodyOf(limited)?.limits).toEqual({
      disk: { iops: 500, bytesPerSecond: 100 * 2 ** 20, burstSeconds: 5 },
      nic: { bytesPerSecond: 2 ** 30, burstSeconds: 5 },
    });
    expect(bodyOf(draft({ nicRate: '1 GiB' }))?.limits).toEqual({ nic: { bytesPerSecond: 2 ** 30 } });
    expect(commandOptions(limited)).toMatchObject({
      'disk-iops': '500',
      'disk-rate': '100MiB',
      'disk-burst': '5',
      'nic-rate': '1GiB',
      'nic-burst': '5',
    });
  });

  it('asks for hardware, and shows its options', () => {
    const asked = draft({ pageSize: '2MiB', sharedMemory: true, cpuModel: ' EPYC-Rome ' });
    expect(bodyOf(asked)?.hardware).toEqual({ pageSize: '2MiB', sharedMemory: true, cpuModel: 'EPYC-Rome' });
    expect(commandOptions(asked)).toMatchObject({
      'page-size': '2MiB',
      'shared-memory': true,
      'cpu-model': 'EPYC-Rome',
    });
  });

  it('asks for dedicated CPUs and NUMA nodes', () => {
    const asked = draft({ vcpus: '4', dedicatedCpus: true, numaNodes: ' 2 ' });
    expect(bodyOf(asked)?.hardware).toEqual({ cpuPolicy: 'dedicated', numaNodes: 2 });
    expect(commandOptions(asked)).toMatchObject({ 'cpu-policy': 'dedicated', 'numa-nodes': '2' });
  });

  it('shows the command that asks for the same', () => {
    expect(commandOptions(draft({ memory: '4 GiB', disk: '10 GiB', vmm: 'qemu' }))).toEqual({
      vcpus: '1',
      memory: '4GiB',
      disk: '10GiB',
      vmm: 'qemu',
      'disk-iops': '',
      'disk-rate': '',
      'nic-rate': '',
      'page-size': '',
      'shared-memory': false,
      'cpu-model': '',
      'cpu-policy': '',
      'numa-nodes': '',
      description: '',
    });
  });
});
