import { hardwareFacts, hardwareFrom } from './hardware-options';

describe('options of hardware', () => {
  it('ask for what was given', () => {
    expect(hardwareFrom({})).toEqual({});
    const hardware = { pageSize: '2MiB', sharedMemory: true, cpuModel: 'EPYC-v1' } as const;
    expect(hardwareFrom(hardware)).toEqual({ hardware });
    expect(hardwareFrom({ sharedMemory: true })).toEqual({ hardware: { sharedMemory: true } });
  });

  it('are shown where something was asked for', () => {
    expect(hardwareFacts({ pageSize: null, sharedMemory: false, cpuModel: null })).toEqual([]);
    const all = hardwareFacts({ pageSize: '1GiB', sharedMemory: true, cpuModel: 'EPYC-v1' });
    expect(all.map(({ value }) => value)).toEqual(['1GiB', 'yes', 'EPYC-v1']);
  });
});
