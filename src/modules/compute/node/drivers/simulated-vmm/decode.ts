import { isIP } from 'node:net';
import { DecodeFailure } from './decode-failure';
import { placeOf, readJson, skipNode, type JsonMember, type JsonNode } from './json-node';

/** Turns parsed JSON into a value, or throws `DecodeFailure` in serde's words. */
export type Decoder<T> = (node: JsonNode) => T;

/** One member of an object: how it is read, and what stands for it when it is absent (nothing: it is required). */
export interface Field<T> {
  decode: Decoder<T>;
  absent?: () => T;
  /** The original is an option without a default: a list that stands for the object may not leave it out. */
  listed?: boolean;
  /** Another name of it. */
  alias?: string;
  /** Of a part that is flattened into the object: decoded after the rest, and placed at the object's end. */
  flattened?: boolean;
}

type Fields = Record<string, Field<unknown>>;
export type Decoded<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never };

const float = (value: number): string => (Number.isInteger(value) ? `${value}.0` : `${value}`);
const describe = (node: JsonNode): string => {
  switch (node.kind) {
    case 'string':
      return `string ${JSON.stringify(node.value)}`;
    case 'number':
      return /^-?\d+$/.test(node.text) ? `integer \`${node.text}\`` : `floating point \`${float(node.value)}\``;
    case 'boolean':
      return `boolean \`${node.value}\``;
    case 'array':
      return 'sequence';
    case 'object':
      return 'map';
    default:
      return 'null';
  }
};

const wrongType = (node: JsonNode, expected: string, at: number): never => {
  throw new DecodeFailure(`invalid type: ${describe(node)}, expected ${expected}`, at);
};

/** Lists and objects are not read any further to say that they are none of that. */
const mismatch = (node: JsonNode, expected: string): never => {
  if (node.kind === 'broken') throw new DecodeFailure(node.fault.text, node.fault.at);
  return wrongType(node, expected, node.kind === 'array' || node.kind === 'object' ? node.start : node.end);
};

const oneOf = (names: readonly string[]): string => {
  const quoted = names.map((name) => `\`${name}\``);
  return quoted.length > 2 ? `one of ${quoted.join(', ')}` : quoted.join(' or ');
};

const string =
  (name: string): Decoder<string> =>
  (node) =>
    node.kind === 'string' ? node.value : mismatch(node, name);
export const text = string('a string');
export const path = string('path string');
export const address: Decoder<string> = (node) => {
  const value = node.kind === 'string' ? node.value : mismatch(node, 'IP address');
  if (isIP(value) === 0) throw new DecodeFailure('invalid IP address syntax', node.end);
  return value;
};
export const flag: Decoder<boolean> = (node) => (node.kind === 'boolean' ? node.value : mismatch(node, 'a boolean'));

const unsigned =
  (name: string, largest: number, least = 0): Decoder<number> =>
  (node) => {
    if (node.kind !== 'number' || !/^-?\d+$/.test(node.text)) return mismatch(node, name);
    if (node.value < least || node.value > largest)
      throw new DecodeFailure(`invalid value: integer \`${node.text}\`, expected ${name}`, node.end);
    return node.value;
  };
export const u8 = unsigned('u8', 255);
export const u16 = unsigned('u16', 65_535);
export const u32 = unsigned('u32', 4_294_967_295);
export const u64 = unsigned('u64', 18_446_744_073_709_551_615);
export const usize = unsigned('usize', 18_446_744_073_709_551_615);
export const nonzeroU32 = unsigned('a nonzero u32', 4_294_967_295, 1);
export const nonzeroU64 = unsigned('a nonzero u64', 18_446_744_073_709_551_615, 1);

/** Said of what can be no variant's name, where it is read from the text itself. */
const noVariant = 'expected value';

export const variant =
  <const V extends string>(...names: readonly V[]): Decoder<V> =>
  (node) => {
    if (node.kind === 'broken') throw new DecodeFailure(node.fault.text, node.fault.at);
    if (node.kind !== 'string') throw new DecodeFailure(noVariant, node.start + 1);
    const found = names.find((name) => name === node.value);
    if (found !== undefined) return found;
    throw new DecodeFailure(`unknown variant \`${node.value}\`, expected ${oneOf(names)}`, node.end);
  };

export const list =
  <T>(item: Decoder<T>): Decoder<T[]> =>
  (node) => {
    if (node.kind !== 'array') return mismatch(node, 'a sequence');
    const items = node.items.map(item);
    if (node.fault) throw new DecodeFailure(node.fault.text, node.fault.at);
    return items;
  };

/** A fault that is placed at the end of the object around it. */
const atObjectsEnd = -1;

/** Checks a text further. `check` returns what is wrong with it, or null. */
export const checked =
  (decode: Decoder<string>, check: (value: string) => string | null): Decoder<string> =>
  (node) => {
    const value = decode(node);
    const fault = check(value);
    if (fault !== null) throw new DecodeFailure(fault, atObjectsEnd);
    return value;
  };

interface ObjectOptions {
  /** Unknown members are refused; else they are ignored, as there. */
  deny?: boolean;
  /** Members of the original, where not all are known here. */
  size?: number;
}

class ObjectDecoder<F extends Fields> {
  private readonly byName = new Map<string, string>();
  private readonly flattens: boolean;

  constructor(
    private readonly name: string,
    private readonly fields: F,
    private readonly options: ObjectOptions,
  ) {
    this.flattens = Object.values(fields).some((field) => field.flattened);
    for (const [key, field] of Object.entries(fields)) {
      this.byName.set(key, key);
      if (field.alias !== undefined) this.byName.set(field.alias, key);
    }
  }

  decode(node: JsonNode): Decoded<F> {
    if (node.kind === 'array' && !this.flattens) return this.fromList(node.items, node.end);
    if (node.kind !== 'object') return mismatch(node, `struct ${this.name}`);
    const result: Record<string, unknown> = {};
    const later: [string, JsonNode][] = [];
    for (const member of node.members) {
      const key = this.known(member, result);
      if (key === null) skipNode(member.value);
      else if (this.fields[key]?.flattened) later.push([key, member.value]);
      else result[key] = this.direct(key, member.value, node.end);
    }
    if (node.fault) throw new DecodeFailure(node.fault.text, node.fault.at);
    for (const [key, value] of later) {
      skipNode(value);
      result[key] = this.placedAt(value, node.end, () => this.fields[key]?.decode(value));
    }
    return this.filled(result, node.end);
  }

  private known({ key, keyEnd }: JsonMember, so: Record<string, unknown>): string | null {
    const name = this.byName.get(key);
    if (name === undefined && this.options.deny === true)
      throw new DecodeFailure(`unknown field \`${key}\`, expected ${oneOf(Object.keys(this.fields))}`, keyEnd);
    if (name !== undefined && name in so) throw new DecodeFailure(`duplicate field \`${name}\``, keyEnd);
    return name ?? null;
  }

  private direct(key: string, value: JsonNode, objectsEnd: number): unknown {
    try {
      return this.fields[key]?.decode(value);
    } catch (error) {
      if (error instanceof DecodeFailure && error.at === atObjectsEnd)
        throw new DecodeFailure(error.message, objectsEnd);
      throw error;
    }
  }

  /** What is flattened is decoded from a copy that knows no places. */
  private placedAt<T>(value: JsonNode, at: number, run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof DecodeFailure && error.message === noVariant) return wrongType(value, 'string or map', at);
      if (error instanceof DecodeFailure) throw new DecodeFailure(error.message, at);
      throw error;
    }
  }

  private filled(result: Record<string, unknown>, at: number): Decoded<F> {
    const all: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(this.fields)) {
      if (!(key in result) && !field.absent) throw new DecodeFailure(`missing field \`${key}\``, at);
      all[key] = key in result ? result[key] : field.absent?.();
    }
    return all as Decoded<F>;
  }

  /** A list with the members in their order stands for the object. */
  private fromList(items: readonly JsonNode[], at: number): Decoded<F> {
    const keys = Object.keys(this.fields);
    const all: Record<string, unknown> = {};
    keys.forEach((key, n) => {
      const field = this.fields[key];
      const item = items[n];
      if (item) all[key] = field?.decode(item);
      else if (!field?.absent || field.listed === true)
        throw new DecodeFailure(
          `invalid length ${n}, expected struct ${this.name} with ${this.options.size ?? keys.length} elements`,
          at,
        );
      else all[key] = field.absent();
    });
    return all as Decoded<F>;
  }
}

export const object = <F extends Fields>(name: string, fields: F, options: ObjectOptions = {}): Decoder<Decoded<F>> => {
  const decoder = new ObjectDecoder(name, fields, options);
  return (node) => decoder.decode(node);
};

export const required = <T>(decode: Decoder<T>): Field<T> => ({ decode });
export const defaulted = <T>(decode: Decoder<T>, value: T | (() => T)): Field<T> => ({
  decode,
  absent: typeof value === 'function' ? (value as () => T) : () => value,
});
/** `Option<T>`: absent and null are the same. */
export const optional = <T>(decode: Decoder<T>, more: { alias?: string; listed?: boolean } = {}): Field<T | null> => ({
  decode: (node) => (node.kind === 'null' ? null : decode(node)),
  absent: () => null,
  ...more,
});
/** Members that a part of its own brings into the object. */
export const flattened = <F extends Fields>(fields: F): F =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, { ...field, flattened: true }])) as F;

/** Parses a request body. Throws `DecodeFailure` with the place, as serde_json would. */
export const decodeBody = <T>(decode: Decoder<T>, body: string): T => {
  try {
    const { node, trailing } = readJson(body);
    const value = decode(node);
    if (trailing) throw new DecodeFailure(trailing.text, trailing.at);
    return value;
  } catch (error) {
    if (error instanceof DecodeFailure)
      throw new DecodeFailure(`${error.message} ${placeOf(body, error.at)}`, error.at);
    throw error;
  }
};

/** The value of an object that has only these members. */
export const made = <T>(decode: Decoder<T>, value: unknown): T => decodeBody(decode, JSON.stringify(value));

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
