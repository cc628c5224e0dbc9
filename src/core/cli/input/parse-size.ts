import { usageFailure } from '../cli-failure';
import { formatBytes } from '../output/format';

const factors: Record<string, number> = {
  '': 1,
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  tb: 1000 ** 4,
};

export interface SizeLimits {
  /** Bytes. */
  least?: number;
  /** Only multiples of so many bytes. */
  step?: number;
}

/**
 * `256MiB`, `10GiB`, `512M`, `1.5G`, `1048576` → bytes. K, M, G and T alone are binary, as in `KiB`; `KB`, `MB`, `GB`,
 * `TB` are decimal. Throws a usage failure that names the option, what is allowed, and what was probably meant.
 */
export const parseSize = (value: string, option = 'size', limits: SizeLimits = {}): number => {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(value);
  const factor = match ? factors[(match[2] ?? '').toLowerCase()] : undefined;
  const bytes = match && factor !== undefined ? Number(match[1]) * factor : Number.NaN;
  if (!Number.isSafeInteger(bytes))
    throw usageFailure(`${option}: "${value}" is not a size like 256MiB, 10GiB or 512M`);
  const { least = 0, step = 1 } = limits;
  // A number alone is a count of bytes: who writes 256 means mebibytes more often than not.
  const meant = match?.[2] === '' ? `; did you mean ${value.trim()}MiB?` : '';
  if (bytes < least)
    throw usageFailure(`${option}: ${formatBytes(bytes)} is too little, at least ${formatBytes(least)}${meant}`);
  if (bytes % step !== 0) throw usageFailure(`${option}: ${value.trim()} is not a multiple of ${formatBytes(step)}`);
  return bytes;
};

/** A whole number within limits. Throws a usage failure that names the option. */
export const parseInteger = (value: string, option: string, min = 0, max = Number.MAX_SAFE_INTEGER): number => {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number) || number < min || number > max)
    throw usageFailure(
      `${option}: "${value}" is not a whole number${max === Number.MAX_SAFE_INTEGER ? ` of at least ${min}` : ` from ${min} to ${max}`}`,
    );
  return number;
};
