import { guestOf, newGuest, withEvent, type GuestLife } from './guest-life';

const budget = { count: 3, windowMs: 60_000 };
const afterResets = (...times: number[]): GuestLife =>
  times.reduce((life, at) => withEvent(life, { kind: 'reset', at }, budget), newGuest);

describe('what the guest of a running machine did', () => {
  it('is a loop when it resets itself more often than it may within the time, and no more once that is over', () => {
    expect(guestOf(afterResets(1000, 2000, 3000), 3000)).toMatchObject({ looping: false });
    const often = afterResets(1000, 2000, 3000, 4000);
    expect(guestOf(often, 4000)).toMatchObject({ looping: true, resetAt: new Date(4000).toISOString() });
    expect(guestOf(often, 61_000)).toMatchObject({ looping: false, resetAt: new Date(4000).toISOString() });
    expect(guestOf(afterResets(1000, 30_000, 59_000, 90_000), 90_000)).toMatchObject({ looping: false });
  });

  it('is a loop for as long as it goes on, and keeps no more than it needs', () => {
    const long = afterResets(...Array.from({ length: 500 }, (_, i) => i * 1000));
    expect(long.resets).toHaveLength(4);
    expect(guestOf(long, 499_000)).toMatchObject({ looping: true });
  });

  it('keeps the last panic beside the last reset', () => {
    const life = withEvent(
      withEvent(afterResets(1000), { kind: 'panic', at: 5000 }, budget),
      { kind: 'watchdog', at: 5500 },
      budget,
    );
    expect(guestOf(life, 6000)).toEqual({
      panickedAt: new Date(5000).toISOString(),
      watchdogAt: new Date(5500).toISOString(),
      resetAt: new Date(1000).toISOString(),
      looping: false,
      lost: [],
    });
  });
});
