import { DecodeFailure } from './decode-failure';

/** Turns parsed JSON into a value, or throws `DecodeFailure` in serde's words. */
export type Decoder<T> = (value: unknown) => T;

/** One member of an object: how it is read, and what stands for it when it is absent (nothing: it is required). */
export interface Field<T> {
  decode: Decoder<T>;
  absent?: () => T;
}

type Fields = Record<string, Field<unknown>>;
export type Decoded<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never };

const describe = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'sequence';
  switch (typeof value) {
    case 'string':
      return `string ${JSON.stringify(value)}`;
    case 'number':
      return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
    case 'boolean':
      return `boolean \`${value}\``;
    default:
      return 'map';
  }
};
const mismatch = (value: unknown, expected: string): never => {
  throw new DecodeFailure(`invalid type: ${describe(value)}, expected ${expected}`);
};

export const text: Decoder<string> = (value) => (typeof value === 'string' ? value : mismatch(value, 'a string'));
export const flag: Decoder<boolean> = (value) => (typeof value === 'boolean' ? value : mismatch(value, 'a boolean'));

const unsigned =
  (name: string, largest: number): Decoder<number> =>
  (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return mismatch(value, name);
    if (value < 0 || value > largest) throw new DecodeFailure(`invalid value: integer \`${value}\`, expected ${name}`);
    return value;
  };
export const u8 = unsigned('u8', 255);
export const u16 = unsigned('u16', 65_535);
export const u32 = unsigned('u32', 4_294_967_295);
export const u64 = unsigned('u64', 18_446_744_073_709_551_615);

export const variant =
  <const V extends string>(...names: readonly V[]): Decoder<V> =>
  (value) => {
    if (typeof value !== 'string') return mismatch(value, 'string or map');
    const found = names.find((name) => name === value);
    if (found !== undefined) return found;
    throw new DecodeFailure(
      `unknown variant \`${value}\`, expected ${names.length === 1 ? '' : 'one of '}${names.map((name) => `\`${name}\``).join(', ')}`,
    );
  };

export const list =
  <T>(item: Decoder<T>): Decoder<T[]> =>
  (value) =>
    Array.isArray(value) ? value.map(item) : mismatch(value, 'a sequence');

/** Unknown members are ignored, as there, unless `deny` says otherwise. */
export const object =
  <F extends Fields>(name: string, fields: F, deny = false): Decoder<Decoded<F>> =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return mismatch(value, `struct ${name}`);
    const members = new Map(Object.entries(value));
    if (deny) {
      for (const key of members.keys()) {
        if (!(key in fields))
          throw new DecodeFailure(
            `unknown field \`${key}\`, expected one of ${Object.keys(fields)
              .map((known) => `\`${known}\``)
              .join(', ')}`,
          );
      }
    }
    const result: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(fields)) {
      if (members.has(key)) result[key] = field.decode(members.get(key));
      else if (field.absent) result[key] = field.absent();
      else throw new DecodeFailure(`missing field \`${key}\``);
    }
    return result as Decoded<F>;
  };

export const required = <T>(decode: Decoder<T>): Field<T> => ({ decode });
export const defaulted = <T>(decode: Decoder<T>, value: T | (() => T)): Field<T> => ({
  decode,
  absent: typeof value === 'function' ? (value as () => T) : () => value,
});
/** `Option<T>`: absent and null are the same. */
export const optional = <T>(decode: Decoder<T>): Field<T | null> => ({
  decode: (value) => (value === null ? null : decode(value)),
  absent: () => null,
});

/**
 * Parses a request body. Throws `DecodeFailure` with the place, as serde_json would (the place is that of the body's
 * end).
 */
export const decodeBody = <T>(decode: Decoder<T>, body: string): T => {
  const lines = body.split('\n');
  const place = `at line ${lines.length} column ${lines.at(-1)?.length ?? 0}`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (error) {
    const open = /end of JSON|Expected property name or '}'|Unterminated/.test((error as Error).message);
    throw new DecodeFailure(`${open ? 'EOF while parsing an object' : 'expected value'} ${place}`);
  }
  try {
    return decode(parsed);
  } catch (error) {
    if (error instanceof DecodeFailure) throw new DecodeFailure(`${error.message} ${place}`);
    throw error;
  }
};

/** Removes (or keeps) `null` members throughout, as the version answers. */
export const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .map(([key, member]) => [key, withoutNulls(member)]),
  );
};
