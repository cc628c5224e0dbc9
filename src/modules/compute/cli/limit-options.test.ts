import { limitFacts, limitsFrom } from './limit-options';

describe('options of limits', () => {
  it('ask for what was given, in bytes', () => {
    expect(limitsFrom({})).toEqual({});
    expect(
      limitsFrom({ diskIops: '500', diskRate: '100MiB', diskBurst: '5', nicRate: '125MB', nicBurst: '2' }),
    ).toEqual({
      limits: {
        disk: { iops: 500, bytesPerSecond: 100 * 2 ** 20, burstSeconds: 5 },
        nic: { bytesPerSecond: 125_000_000, burstSeconds: 2 },
      },
    });
    expect(limitsFrom({ diskIops: '500' })).toEqual({ limits: { disk: { iops: 500 } } });
  });

  it.each([
    [{ diskBurst: '5' }, /--disk-burst needs/],
    [{ nicBurst: '5' }, /--nic-burst needs/],
    [{ diskIops: '9' }, /--disk-iops: "9"/],
    [{ nicRate: '1k' }, /--nic-rate: 1 KiB is too little/],
    [{ nicRate: '1M', nicBurst: '61' }, /--nic-burst: "61"/],
  ])('refuse %j by name', (options, message) => expect(() => limitsFrom(options)).toThrow(message));

  it('are shown in words', () => {
    expect(limitFacts({ disk: null, nic: null })).toEqual([]);
    const disk = { iops: 500, bytesPerSecond: 100 * 2 ** 20, burstSeconds: 5 };
    expect(limitFacts({ disk, nic: { bytesPerSecond: 2 ** 20, burstSeconds: 1 } }).map(({ value }) => value)).toEqual([
      '500 requests/s, 100 MiB/s, bursts of 5 s',
      '1 MiB/s each way',
    ]);
  });
});
