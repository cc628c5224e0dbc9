import { DecodeFailure } from './decode-failure';

interface Placed {
  /** Bytes read before the value begins, and until it has ended. */
  start: number;
  end: number;
}

/** Where reading could not go on, in serde_json's words. `at`: bytes read by then. */
export interface SyntaxFault {
  text: string;
  at: number;
}

export interface JsonMember {
  key: string;
  keyEnd: number;
  value: JsonNode;
}

/**
 * A value with its place in the text. What comes after a fault of the syntax is not known: lists and objects end with
 * it, and a value that could not be read is `broken`. So a wrong type before it is found first, as by a decoder that
 * reads while it decodes.
 */
export type JsonNode = Placed &
  (
    | { kind: 'null' }
    | { kind: 'boolean'; value: boolean }
    | { kind: 'number'; value: number; text: string }
    | { kind: 'string'; value: string }
    | { kind: 'array'; items: JsonNode[]; fault: SyntaxFault | null }
    | { kind: 'object'; members: JsonMember[]; fault: SyntaxFault | null }
    | { kind: 'broken'; fault: SyntaxFault }
  );

const space = new Set([0x20, 0x09, 0x0a, 0x0d]);
const escapes = '"\\/bfnrtu';
const code = (character: string): number => character.charCodeAt(0);
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Reads JSON as serde_json does, place by place. */
class JsonReader {
  private index = 0;

  constructor(private readonly bytes: Buffer) {}

  /** The one value of the text, and what is wrong behind it. */
  document(): { node: JsonNode; trailing: SyntaxFault | null } {
    const node = this.value();
    const trailing = this.peek() === null ? null : this.here('trailing characters');
    return { node, trailing };
  }

  private peek(): number | null {
    while (this.index < this.bytes.length && space.has(this.bytes[this.index] ?? 0)) this.index++;
    return this.bytes[this.index] ?? null;
  }

  /** A fault of the byte that comes next, which counts as read if there is one. */
  private here(text: string): SyntaxFault {
    return { text, at: Math.min(this.index + 1, this.bytes.length) };
  }

  private value(): JsonNode {
    const next = this.peek();
    const start = this.index;
    if (next === null) return this.broken(start, this.here('EOF while parsing a value'));
    if (next === code('"')) return this.text(start);
    if (next === code('[')) return this.list(start);
    if (next === code('{')) return this.object(start);
    if (next === code('-') || (next >= 0x30 && next <= 0x39)) return this.number(start);
    for (const [word, node] of [
      ['null', { kind: 'null' }],
      ['true', { kind: 'boolean', value: true }],
      ['false', { kind: 'boolean', value: false }],
    ] as const)
      if (next === code(word)) return this.word(start, word) ?? { ...node, start, end: this.index };
    return this.broken(start, this.here('expected value'));
  }

  private broken(start: number, fault: SyntaxFault): JsonNode {
    return { kind: 'broken', fault, start, end: fault.at };
  }

  /** Null if it is all there. */
  private word(start: number, word: string): JsonNode | null {
    for (const character of word) {
      const next = this.bytes[this.index];
      if (next === undefined) return this.broken(start, { text: 'EOF while parsing a value', at: this.index });
      this.index++;
      if (next !== code(character)) return this.broken(start, { text: 'expected ident', at: this.index });
    }
    return null;
  }

  private number(start: number): JsonNode {
    const digits = (): number => {
      const from = this.index;
      while (isDigit(this.bytes[this.index])) this.index++;
      return this.index - from;
    };
    /** One digit at least, after which the next byte is read already. */
    const needDigits = (): SyntaxFault | null => {
      if (digits() > 0) return null;
      if (this.index >= this.bytes.length) return { text: 'EOF while parsing a value', at: this.index };
      return { text: 'invalid number', at: this.index + 1 };
    };
    if (this.bytes[this.index] === code('-')) this.index++;
    const zero = this.bytes[this.index] === code('0');
    let fault = needDigits();
    if (!fault && zero && this.index > start + (this.bytes[start] === code('-') ? 2 : 1))
      fault = { text: 'invalid number', at: start + (this.bytes[start] === code('-') ? 3 : 2) };
    if (!fault && this.bytes[this.index] === code('.')) {
      this.index++;
      fault = needDigits();
    }
    if (!fault && [code('e'), code('E')].includes(this.bytes[this.index] ?? 0)) {
      this.index++;
      if ([code('+'), code('-')].includes(this.bytes[this.index] ?? 0)) this.index++;
      fault = needDigits();
    }
    if (fault) return this.broken(start, fault);
    const text = this.bytes.subarray(start, this.index).toString('latin1');
    return { kind: 'number', value: Number(text), text, start, end: this.index };
  }

  private text(start: number): JsonNode {
    for (this.index++; this.index < this.bytes.length; this.index++) {
      const byte = this.bytes[this.index] ?? 0;
      if (byte === code('"')) {
        this.index++;
        return this.unescaped(start);
      }
      if (byte === code('\\')) {
        this.index++;
        const escape = this.bytes[this.index];
        if (escape !== undefined && !escapes.includes(String.fromCharCode(escape)))
          return this.broken(start, { text: 'invalid escape', at: this.index + 1 });
      }
      if (byte < 0x20) {
        const fault = 'control character (\\u0000-\\u001F) found while parsing a string';
        return this.broken(start, { text: fault, at: this.index });
      }
    }
    return this.broken(start, { text: 'EOF while parsing a string', at: this.bytes.length });
  }

  private unescaped(start: number): JsonNode {
    try {
      const value = JSON.parse(this.bytes.subarray(start, this.index).toString('utf8')) as string;
      return { kind: 'string', value, start, end: this.index };
    } catch {
      return this.broken(start, { text: 'invalid escape', at: this.index });
    }
  }

  private list(start: number): JsonNode {
    this.index++;
    const items: JsonNode[] = [];
    const over = (fault: SyntaxFault | null): JsonNode => ({ kind: 'array', items, fault, start, end: this.index });
    for (;;) {
      const next = this.peek();
      if (next === null) return over(this.here('EOF while parsing a list'));
      if (next === code(']')) {
        this.index++;
        return over(null);
      }
      if (items.length > 0) {
        if (next !== code(',')) return over(this.here('expected `,` or `]`'));
        this.index++;
        if (this.peek() === code(']')) return over(this.here('trailing comma'));
      }
      const item = this.value();
      items.push(item);
      if (isBroken(item)) return over(null);
    }
  }

  private object(start: number): JsonNode {
    this.index++;
    const members: JsonMember[] = [];
    const over = (fault: SyntaxFault | null): JsonNode => ({ kind: 'object', members, fault, start, end: this.index });
    for (;;) {
      let next = this.peek();
      if (next === null) return over(this.here('EOF while parsing an object'));
      if (next === code('}')) {
        this.index++;
        return over(null);
      }
      if (members.length > 0) {
        if (next !== code(',')) return over(this.here('expected `,` or `}`'));
        this.index++;
        next = this.peek();
        if (next === null) return over(this.here('EOF while parsing a value'));
        if (next === code('}')) return over(this.here('trailing comma'));
      }
      if (next !== code('"')) return over(this.here('key must be a string'));
      const key = this.text(this.index);
      if (key.kind !== 'string') return over(key.kind === 'broken' ? key.fault : null);
      const keyEnd = this.index;
      const colon = this.peek();
      if (colon !== code(':')) return over(this.here(colon === null ? 'EOF while parsing an object' : 'expected `:`'));
      this.index++;
      const value = this.value();
      members.push({ key: key.value, keyEnd, value });
      if (isBroken(value)) return over(null);
    }
  }
}

/** Whether reading stopped within the value. */
const isBroken = (node: JsonNode): boolean => {
  if (node.kind === 'broken') return true;
  if (node.kind === 'array') return node.fault !== null || node.items.some(isBroken);
  if (node.kind === 'object') return node.fault !== null || node.members.some(({ value }) => isBroken(value));
  return false;
};

export const readJson = (text: string): { node: JsonNode; trailing: SyntaxFault | null } =>
  new JsonReader(Buffer.from(text)).document();

/** Throws what a decoder meets that skips the value. */
export const skipNode = (node: JsonNode): void => {
  if (node.kind === 'broken') throw new DecodeFailure(node.fault.text, node.fault.at);
  if (node.kind === 'array') node.items.forEach(skipNode);
  if (node.kind === 'object') for (const { value } of node.members) skipNode(value);
  if ('fault' in node && node.fault) throw new DecodeFailure(skipped(node.kind, node.fault.text), node.fault.at);
};

/** A trailing comma is only called so where the items are looked at. */
const skipped = (kind: JsonNode['kind'], text: string): string => {
  if (text !== 'trailing comma') return text;
  return kind === 'array' ? 'expected value' : 'key must be a string';
};

/** `at line 1 column 8`, after so many bytes. */
export const placeOf = (text: string, at: number): string => {
  const before = Buffer.from(text).subarray(0, at);
  const lines = before.toString('latin1').split('\n');
  return `at line ${lines.length} column ${lines.at(-1)?.length ?? 0}`;
};
