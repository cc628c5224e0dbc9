import type { Duration } from './definition';

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `250ms`, `1.5s`, `10m`, `2h`. Throws on anything else and on what is not above zero. */
export const parseDuration = (duration: Duration): number => {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(duration);
  const ms = match ? Math.round(Number(match[1]) * (units[match[2] ?? ''] ?? Number.NaN)) : Number.NaN;
  if (!Number.isFinite(ms) || ms <= 0) throw new Error(`"${duration}" is no duration: write e.g. 250ms, 30s, 10m, 2h`);
  return ms;
};
