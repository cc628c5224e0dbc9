const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Text of others for a terminal: no control characters, so that no name can move the cursor or colour the screen. */
export const plain = (value: string): string => value.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');

/** 268435456 → `256 MiB`: the largest binary unit, one digit after the point at most. */
export const formatBytes = (bytes: number): string => {
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${Number(value.toFixed(1))} ${units[unit]}`;
};

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];
let relative: Intl.RelativeTimeFormat | undefined;

/** An RFC 3339 time as `3 minutes ago`; `-` for none. */
export const formatTime = (at: string | null | undefined, now: number = Date.now()): string => {
  if (!at) return '-';
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  if (Number.isNaN(seconds)) return plain(at);
  if (Math.abs(seconds) < 5) return 'just now';
  relative ??= new Intl.RelativeTimeFormat('en', { numeric: 'always' });
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
};

/** Seconds as `1m 05s`. */
export const formatDuration = (seconds: number): string =>
  seconds < 60
    ? `${seconds.toFixed(1)}s`
    : `${Math.floor(seconds / 60)}m ${String(Math.floor(seconds % 60)).padStart(2, '0')}s`;

/** An RFC 3339 time with how long ago it was; `-` for none. */
export const moment = (at: string | null | undefined, now: number = Date.now()): string =>
  at ? `${at.replace(/\.\d+Z$/, 'Z')} (${formatTime(at, now)})` : '-';
