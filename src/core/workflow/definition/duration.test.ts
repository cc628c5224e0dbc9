import { parseDuration } from './duration';

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['1.5s', 1_500],
    ['10m', 600_000],
    ['2h', 7_200_000],
  ] as const)('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));
  it.each(['', '5', 's', '-1s', '0s', '1d', '1 s', '1e3s', 'NaNs'])('refuses %p', (text) =>
    expect(() => parseDuration(text as never)).toThrow('no duration'),
  );
});
