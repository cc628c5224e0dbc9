const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** `1536 MiB` → `1.5 GiB`: at most one decimal, binary units. */
export const bytes = (value: number): string => {
  let n = value;
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit += 1;
  }
  return `${n >= 100 || Number.isInteger(n) ? Math.round(n) : n.toFixed(1).replace(/\.0$/, '')} ${units[unit]}`;
};

const factors: Record<string, number> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** `512 MiB`, `2g`, `1.5 GiB` → bytes; null when it is no size. A bare number counts in `unit`. */
export const parseBytes = (value: string, unit: 'm' | 'g'): number | null => {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?\s*$/i.exec(value);
  if (match === null) return null;
  const suffix = (match[2] ?? '').toLowerCase();
  const result = Number(match[1]) * (factors[suffix === '' ? unit : suffix] ?? 1);
  return Number.isSafeInteger(Math.round(result)) ? Math.round(result) : null;
};

/** `43 s`, `5 min`, `3 h`, `12 d`: one unit, rounded down. */
export const age = (iso: string, now: number): string => {
  const s = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h`;
  if (s < 86_400 * 365) return `${Math.floor(s / 86_400)} d`;
  return `${Math.floor(s / (86_400 * 365))} y`;
};

/** Elapsed time with enough digits to compare steps: `84 ms`, `1.2 s`, `3 min 04 s`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000)
    return `${Math.floor(ms / 60_000)} min ${String(Math.floor((ms % 60_000) / 1000)).padStart(2, '0')} s`;
  return `${Math.floor(ms / 3_600_000)} h ${String(Math.floor((ms % 3_600_000) / 60_000)).padStart(2, '0')} min`;
};

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
export const dateTime = (iso: string): string => exact.format(new Date(iso));

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
/** The time of day of a moment in milliseconds since 1970. */
export const clockTime = (ms: number): string => time.format(ms);

export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;

export const percent = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.min(100, Math.round((part / whole) * 100));

/** Bytes of a text as UTF-8. */
export const utf8Length = (value: string): number => new TextEncoder().encode(value).length;

/** Base64 of bytes as they are; of text, of its UTF-8. */
export const base64 = (value: string | Uint8Array): string => {
  let binary = '';
  for (const byte of typeof value === 'string' ? new TextEncoder().encode(value) : value)
    binary += String.fromCharCode(byte);
  return btoa(binary);
};

/** `delete-instance` → `Delete instance`; `DiskPressure` → `Disk pressure`; `VmmSound` → `VMM sound`. */
export const words = (slug: string): string => {
  const spaced = slug
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_.]+/g, ' ')
    .trim()
    .toLowerCase()
    .replace(/\b(api|ssh|vmm)\b/g, (short) => short.toUpperCase());
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
};
