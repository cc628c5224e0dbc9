import { hardwareFacts, hardwareFrom } from './hardware-options';

describe('options of hardware', () => {
  it('ask for what was given', () => {
    expect(hardwareFrom({})).toEqual({});
    const hardware = { pageSize: '2MiB', sharedMemory: true, cpuModel: 'EPYC-v1' } as const;
    expect(hardwareFrom(hardware)).toEqual({ hardware });
    expect(hardwareFrom({ cpuPolicy: 'dedicated', numaNodes: '2' })).toEqual({
      hardware: { cpuPolicy: 'dedicated', numaNodes: 2 },
    });
    expect(() => hardwareFrom({ numaNodes: 'two' })).toThrow('--numa-nodes');
    expect(hardwareFrom({ sharedMemory: true })).toEqual({ hardware: { sharedMemory: true } });
  });

  it('are shown where something was asked for', () => {
    expect(
      hardwareFacts({ pageSize: null, sharedMemory: false, cpuModel: null, cpuPolicy: 'shared', numaNodes: null }),
    ).toEqual([]);
    const all = hardwareFacts({
      pageSize: '1GiB',
      sharedMemory: true,
      cpuModel: 'EPYC-v1',
      cpuPolicy: 'dedicated',
      numaNodes: 2,
    });
    expect(all.map(({ value }) => value)).toEqual(['1GiB', 'yes', 'EPYC-v1', 'dedicated', '2']);
  });
});
