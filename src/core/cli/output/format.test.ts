import { formatBytes, formatDuration, formatTime, plain } from './format';

describe('format', () => {
  it('writes sizes in the largest binary unit', () => {
    expect([0, 1023, 1024, 268_435_456, 1_610_612_736, 10 * 1024 ** 3].map(formatBytes)).toEqual([
      '0 B',
      '1023 B',
      '1 KiB',
      '256 MiB',
      '1.5 GiB',
      '10 GiB',
    ]);
  });

  it('writes times relative to now', () => {
    const now = Date.parse('2026-01-02T00:00:00Z');
    const ago = (seconds: number): string => formatTime(new Date(now - seconds * 1000).toISOString(), now);
    expect([2, 30, 90, 7200, 86_400 * 3, 86_400 * 70, 86_400 * 800].map(ago)).toEqual([
      'just now',
      '30 seconds ago',
      '1 minute ago',
      '2 hours ago',
      '3 days ago',
      '2 months ago',
      '2 years ago',
    ]);
    expect(ago(-3600)).toBe('in 1 hour');
    expect(formatTime(null)).toBe('-');
    expect(formatTime('never')).toBe('never');
  });

  it('keeps control characters from the terminal', () => {
    expect(plain('a\u001b[31mb\u0007\nc\u202ed')).toBe('a [31mb c d');
  });

  it('writes durations', () => {
    expect([0.24, 59.9, 65, 600].map(formatDuration)).toEqual(['0.2s', '59.9s', '1m 05s', '10m 00s']);
  });
});
