import { neededRevision } from '../../../core/m2m/verbs/revisions';
import { createFlavor } from './compute.api';
import { instanceEnsure } from './instance.verbs';
import { bucketOf, limitsInput, limitsOf, noLimits } from './limits';

const size = { name: 'small', vcpus: 1, memoryBytes: 2 ** 30 };

describe('limits of a flavor', () => {
  it('are none unless they are asked for, and hold a burst of a second unless another is', () => {
    expect(createFlavor.parse(size).limits).toEqual(noLimits);
    expect(limitsInput.parse({ disk: { iops: 100 }, nic: { bytesPerSecond: 2 ** 20, burstSeconds: 5 } })).toEqual({
      disk: { iops: 100, bytesPerSecond: null, burstSeconds: 1 },
      nic: { bytesPerSecond: 2 ** 20, burstSeconds: 5 },
    });
    expect(bucketOf(2 ** 20, { burstSeconds: 5 })).toBe(5 * 2 ** 20);
  });

  it.each([
    [{ disk: {} }, 'limits.disk'],
    [{ disk: { iops: 9 } }, 'limits.disk.iops'],
    [{ disk: { bytesPerSecond: 1000 } }, 'limits.disk.bytesPerSecond'],
    [{ disk: { iops: 100, burstSeconds: 0 } }, 'limits.disk.burstSeconds'],
    [{ nic: {} }, 'limits.nic.bytesPerSecond'],
    [{ nic: { bytesPerSecond: 2 ** 20, burstSeconds: 61 } }, 'limits.nic.burstSeconds'],
    [{ cpu: {} }, 'limits'],
  ])('refuse %j by name', (limits, path) => {
    const { error } = createFlavor.safeParse({ ...size, limits });
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
});

it('are said only where there are some, and then no agent of before is asked', () => {
  expect(limitsOf({})).toEqual({});
  expect(limitsOf({ limits: noLimits })).toEqual({});
  const limits = limitsInput.parse({ nic: { bytesPerSecond: 2 ** 20 } });
  expect(limitsOf({ limits })).toEqual({ limits });
  expect(neededRevision(instanceEnsure, { spec: { ...limitsOf({ limits: noLimits }) } })).toBe(1);
  expect(neededRevision(instanceEnsure, { spec: { ...limitsOf({ limits }) } })).toBe(9);
});
