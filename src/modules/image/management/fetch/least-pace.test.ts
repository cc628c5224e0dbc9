import { LeastPace } from './least-pace';

const feed = (pace: LeastPace, chunks: { waitMs: number; workMs?: number; bytes: number }[]): boolean[] => {
  let now = 0;
  return chunks.map(({ waitMs, workMs = 0, bytes }) => {
    pace.waiting(now);
    now += waitMs;
    pace.arrived(now, bytes);
    const slow = pace.tooSlow(now);
    now += workMs;
    return slow;
  });
};

it('finds a sender too slow once a window of waiting is over, and not before', () => {
  const seconds = Array.from({ length: 61 }, () => ({ waitMs: 1000, bytes: 1 }));
  expect(feed(new LeastPace(16_384, 60_000), seconds).indexOf(true)).toBe(59);
});

it('looks at the average of the window, not at its pauses', () => {
  const bursts = Array.from({ length: 20 }, (_, i) => ({ waitMs: 10_000, bytes: i % 3 === 0 ? 1_500_000 : 0 }));
  expect(feed(new LeastPace(16_384, 60_000), bursts)).not.toContain(true);
});

it('judges each window by itself: what came before does not last for ever', () => {
  const fast = { waitMs: 60_000, bytes: 1_000_000_000 };
  expect(feed(new LeastPace(16_384, 60_000), [fast, { waitMs: 60_000, bytes: 10 }])).toEqual([false, true]);
});

it('does not count the time that our own work takes', () => {
  const chunks = Array.from({ length: 50 }, () => ({ waitMs: 10, workMs: 60_000, bytes: 65_536 }));
  expect(feed(new LeastPace(16_384, 60_000), chunks)).not.toContain(true);
});

it('sees a silence that goes on', () => {
  const pace = new LeastPace(1, 60_000);
  pace.waiting(0);
  expect(pace.tooSlow(59_999)).toBe(false);
  expect(pace.tooSlow(60_000)).toBe(true);
});

it('bears any pace when it is 0, and no silence', () => {
  expect(
    feed(new LeastPace(0, 60_000), [
      { waitMs: 60_000, bytes: 1 },
      { waitMs: 60_000, bytes: 0 },
    ]),
  ).toEqual([false, true]);
});
