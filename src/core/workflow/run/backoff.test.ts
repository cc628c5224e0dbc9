import fc from 'fast-check';
import { backoffMs } from './backoff';

describe('backoffMs', () => {
  it('doubles from 200 ms to 15 s', () => {
    const longest = [1, 2, 3, 4, 7, 8, 50, 5000].map((attempt) => backoffMs(undefined, attempt, () => 1));
    expect(longest).toEqual([200, 400, 800, 1_600, 12_800, 15_000, 15_000, 15_000]);
  });
  it('takes between a half and the whole', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (attempt, random) => {
          const ms = backoffMs({ backoff: '100ms', maxBackoff: '2s' }, attempt, () => random);
          const full = Math.min(2_000, 100 * 2 ** (attempt - 1));
          return ms >= Math.floor(full / 2) && ms <= full;
        },
      ),
    );
  });
});
