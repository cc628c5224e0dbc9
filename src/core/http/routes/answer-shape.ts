import { z } from 'zod';

/** Says that a value breaks its schema, which can tell why. */
export const unfit = Symbol('unfit');

type Shape = (value: unknown) => unknown;

/** What `z.uuid()`, `z.iso.datetime()` and `.regex()` come to: one pattern. Other formats look further. */
const formatsOfOnePattern: ReadonlySet<unknown> = new Set(['uuid', 'datetime', 'regex']);

interface Check {
  check?: string;
  format?: string;
  pattern?: RegExp;
  tx?: (value: string) => string;
  value?: unknown;
  inclusive?: boolean;
  when?: unknown;
}

/** Of a schema's own check, as `z.uuid()` is one, and of those that were added to it. */
const checksOf = (schema: z.ZodType): Check[] => {
  const own = schema.def as Check;
  const added = (schema.def.checks ?? []).map((check) => check._zod.def as Check);
  return own.check === undefined ? added : [own, ...added];
};

/** A text of JavaScript that does a schema's work, and the values of ours that it names. */
class Program {
  readonly constants: unknown[] = [unfit];
  private names = 0;

  constant(value: unknown): string {
    return `constants[${this.constants.push(value) - 1}]`;
  }

  private fresh(): string {
    this.names += 1;
    return `v${this.names}`;
  }

  /** Statements that put what `from` comes to into a variable, or return `unfit`; and that variable. */
  read(schema: z.ZodType, from: string): { code: string; into: string } {
    const into = this.fresh();
    return { into, code: `let ${into} = ${from};\n${this.narrow(schema, into) ?? this.byItself(schema, into)}` };
  }

  /** Statements that narrow the variable; undefined for a schema that is left to zod. */
  private narrow(schema: z.ZodType, name: string): string | undefined {
    const unless = (condition: string): string => `if (!(${condition})) return constants[0];\n`;
    if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
      if (checksOf(schema).length > 0) return undefined;
      const { code, into } = this.read(schema.unwrap() as z.ZodType, name);
      return `if (${name} !== ${schema instanceof z.ZodNullable ? 'null' : 'undefined'}) {\n${code}${name} = ${into};\n}\n`;
    }
    if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) {
      const checks = this.stringChecks(checksOf(schema), name);
      return checks === undefined ? undefined : unless(`typeof ${name} === 'string'`) + checks;
    }
    if (schema instanceof z.ZodNumber) {
      const conditions = numberConditions(checksOf(schema), name);
      return conditions && unless([`Number.isFinite(${name})`, ...conditions].join(' && '));
    }
    if (checksOf(schema).length > 0) return undefined;
    if (schema instanceof z.ZodBoolean) return unless(`typeof ${name} === 'boolean'`);
    if (schema instanceof z.ZodNull) return unless(`${name} === null`);
    if (schema instanceof z.ZodEnum) return unless(`${this.constant(new Set(schema.options))}.has(${name})`);
    if (schema instanceof z.ZodArray) return unless(`Array.isArray(${name})`) + this.members(schema, name);
    if (schema instanceof z.ZodObject) return this.object(schema, name, unless);
    return undefined;
  }

  private byItself(schema: z.ZodType, name: string): string {
    const parsed = this.fresh();
    return `const ${parsed} = ${this.constant(schema)}.safeParse(${name});\nif (!${parsed}.success) return constants[0];\n${name} = ${parsed}.data;\n`;
  }

  private stringChecks(checks: readonly Check[], name: string): string | undefined {
    const parts = checks.map(({ check, format, pattern, tx, when }) => {
      if (when !== undefined) return undefined;
      if (check === 'string_format' && formatsOfOnePattern.has(format) && pattern && !pattern.global && !pattern.sticky)
        return `if (!${this.constant(pattern)}.test(${name})) return constants[0];\n`;
      if (check === 'overwrite' && tx) return `${name} = ${this.constant(tx)}(${name});\n`;
      return undefined;
    });
    return parts.includes(undefined) ? undefined : parts.join('');
  }

  private members({ element }: z.ZodArray, name: string): string {
    const [made, index] = [this.fresh(), this.fresh()];
    const { code, into } = this.read(element as z.ZodType, `${name}[${index}]`);
    return `const ${made} = new Array(${name}.length);\nfor (let ${index} = 0; ${index} < ${made}.length; ${index} += 1) {\n${code}${made}[${index}] = ${into};\n}\n${name} = ${made};\n`;
  }

  private object(schema: z.ZodObject, name: string, unless: (condition: string) => string): string | undefined {
    const { catchall } = schema.def;
    if (catchall && !(catchall instanceof z.ZodNever)) return undefined;
    const members = Object.entries(schema.shape).map(([key, member]) => {
      const read = this.read(member as z.ZodType, `${name}[${JSON.stringify(key)}]`);
      return { ...read, key, required: member._zod.optin === undefined };
    });
    // Whether an absent member may be so is told by its schema, but for those that take undefined.
    const there = members
      .filter(({ required }) => required)
      .map(({ into }) => `if (${into} === undefined) return constants[0];\n`)
      .join('');
    const stranger = this.fresh();
    const strict = catchall
      ? `for (const ${stranger} in ${name}) if (!${this.constant(new Set(Object.keys(schema.shape)))}.has(${stranger})) return constants[0];\n`
      : '';
    return [
      unless(`typeof ${name} === 'object' && ${name} !== null && !Array.isArray(${name})`),
      strict,
      ...members.map(({ code }) => code),
      there,
      `${name} = { ${members.map(({ key, into }) => `${JSON.stringify(key)}: ${into}`).join(', ')} };\n`,
    ].join('');
  }
}

const numberConditions = (checks: readonly Check[], name: string): string[] | undefined => {
  const conditions = checks.map(({ check, format, value, inclusive, when }) => {
    if (when !== undefined) return undefined;
    if (check === 'number_format' && format === 'safeint') return `Number.isSafeInteger(${name})`;
    if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
    if (check === 'greater_than') return `${name} ${inclusive ? '>=' : '>'} ${value}`;
    if (check === 'less_than') return `${name} ${inclusive ? '<=' : '<'} ${value}`;
    return undefined;
  });
  return conditions.every((condition) => condition !== undefined) ? conditions : undefined;
};

/**
 * What `schema.parse` does with an answer, as one function that is made for it (zod makes its own parsers in the same
 * way, but one for each object, with a note of every value): every value is verified by the schema's rules, and of an
 * object nothing is left but what the schema names. Schemas that it does not know by heart run within it as they are.
 * `unfit` for what breaks the schema.
 */
export const answerShape = (schema: z.ZodType): Shape => {
  const program = new Program();
  const { code, into } = program.read(schema, 'value');
  // Names come from our own contracts, and are quoted; values of requests never reach the text.
  const make = new Function('constants', `"use strict";\nreturn (value) => {\n${code}return ${into};\n};`) as (
    constants: readonly unknown[],
  ) => Shape;
  const made = make(program.constants);
  // What it does not take for certain is the schema's to judge.
  return (value) => {
    const shown = made(value);
    if (shown !== unfit) return shown;
    const parsed = schema.safeParse(value);
    return parsed.success ? parsed.data : unfit;
  };
};
