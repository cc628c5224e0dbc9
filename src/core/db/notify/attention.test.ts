import { Attention } from './attention';

describe('attention', () => {
  const looks = (...times: number[]): number[] => {
    const attention = new Attention(1000);
    return times.map((at) => attention.seen(at).attentiveMs);
  };

  it('grows while it looks', () => expect(looks(50_000, 51_000, 52_010, 53_500)).toEqual([0, 1000, 2010, 3500]));
  it('outlasts a look that was late by a little', () =>
    expect(looks(0, 1000, 5900, 6900)).toEqual([0, 1000, 5900, 6900]));
  it('begins anew after a gap: a frozen process, a database that was away', () =>
    expect(looks(0, 1000, 26_000, 27_000)).toEqual([0, 1000, 0, 1000]));
  it('begins anew when the clock jumps, either way', () => {
    expect(looks(0, 1000, 601_000, 602_000)).toEqual([0, 1000, 0, 1000]);
    expect(looks(600_000, 601_000, 1000, 2000)).toEqual([0, 1000, 0, 1000]);
  });
});
