import { z } from 'zod';
import { answerShape, unfit } from './answer-shape';
import * as field from './fields';

const id = 'e3c1f7a2-5b64-4a0e-9d0b-0f6f1c2d3e4f';

const inner = z.object({ id: field.id, name: z.string(), note: z.string().optional() });
const schemas: Record<string, z.ZodType> = {
  string: z.string(),
  'string of a pattern': z.string().regex(/^[a-z]+$/),
  'string of limited length': z.string().min(2).max(5),
  'string with a rule of its own': z.string().refine((s) => s !== 'text'),
  'trimmed string': z.string().trim(),
  id: field.id,
  timestamp: field.timestamp,
  address: z.ipv4(),
  base64: z.base64(),
  number: z.number(),
  integer: z.number().int(),
  'limited integer': z.number().int().min(1).max(10),
  'number within': z.number().gt(0).lt(2),
  'multiple of two': z.number().multipleOf(2),
  bytes: field.bytes,
  boolean: z.boolean(),
  null: z.null(),
  void: z.void(),
  enum: z.enum(['text', 'other']),
  literal: z.literal('text'),
  nullable: z.string().nullable(),
  optional: z.number().optional(),
  nullish: field.id.nullish(),
  'with a default': z.string().default('none'),
  unknown: z.unknown(),
  union: z.union([z.number(), z.string()]),
  record: z.record(z.string(), z.number()),
  array: z.array(z.string()),
  'array of limited length': z.array(z.string()).max(1),
  object: inner,
  'strict object': z.strictObject({ id: field.id, name: z.string() }),
  'loose object': z.looseObject({ id: field.id }),
  'object with a rule of its own': inner.refine((o) => o.name !== 'text'),
  'object of anything': z.object({ data: z.unknown(), maybe: z.unknown().optional() }),
  'object with defaults': z.object({ name: z.string().default('none'), note: z.string().nullish() }),
  'object whose members have odd names': z.object({ "it's": z.number().optional(), 'a"b\\c': z.string().optional() }),
  page: z.object({ items: z.array(inner.extend({ parts: z.array(inner).nullable() })), next: z.string().nullable() }),
  transformed: z.string().transform((s) => s.length),
  date: z.date(),
};

const item = { id, name: 'web', note: 'x', secret: 'hidden' };
const values: unknown[] = [
  undefined,
  null,
  '',
  'text',
  ' text ',
  'aGk=',
  '10.0.0.1',
  id,
  id.toUpperCase(),
  `${id}0`,
  '2026-11-29T04:06:57.123Z',
  '2026-02-30T00:00:00Z',
  0,
  -0,
  1,
  1.5,
  -1,
  11,
  2 ** 53,
  NaN,
  Infinity,
  true,
  [],
  ['a', 'b'],
  [1],
  {},
  new Date(0),
  { id },
  item,
  { ...item, id: id.toUpperCase() },
  { ...item, name: 7 },
  { ...item, name: 'text' },
  { ...item, note: undefined },
  { ...item, note: null },
  { id, name: 'web' },
  Object.assign(Object.create({ name: 'inherited' }) as object, { id }),
  { data: { any: ['thing'] }, maybe: 1 },
  { data: undefined },
  { 'a"b\\c': 'x', "it's": 2, more: 3 },
  { items: [], next: null },
  {
    items: [
      { ...item, parts: [item, item] },
      { ...item, parts: null },
    ],
    next: 'cursor',
    total: 2,
  },
  { items: [{ ...item, parts: [{ ...item, id: 'no id' }] }], next: null },
  { items: [{ ...item }], next: null },
];

describe('the shape of answers', () => {
  it.each(Object.entries(schemas))('does what its schema does: %s', (_name, schema) => {
    const shape = answerShape(schema);
    for (const value of values) {
      const parsed = schema.safeParse(value);
      const shown = shape(value);
      if (!parsed.success) expect(shown).toBe(unfit);
      else expect(JSON.stringify(shown)).toBe(JSON.stringify(parsed.data));
    }
  });

  it('leaves the value as it is', () => {
    const value = { items: [Object.freeze({ ...item, id: id.toUpperCase(), parts: null })], next: null };
    answerShape(schemas['page'] ?? z.never())(value);
    expect(value.items[0]?.id).toBe(id.toUpperCase());
  });
});
