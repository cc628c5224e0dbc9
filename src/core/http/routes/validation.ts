import { z } from 'zod';
import { shapeOf, unwrap } from '../../config/schema-tree';
import { suggest } from '../../config/suggest';
import { Problem, type FieldError } from '../../errors/problem';
import { issueWords } from '../../errors/issue-words';

export type RequestPart = 'params' | 'query' | 'body';

/** Issues of shape: the request is malformed (400). All others concern values of the right shape (422). */
const structural = new Set(['invalid_type', 'unrecognized_keys', 'invalid_union', 'invalid_key', 'invalid_element']);
const maxErrors = 50;

const at = (value: unknown, path: readonly PropertyKey[]): unknown => {
  let here: unknown = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<PropertyKey, unknown>)[key];
  }
  return here;
};

/** A member that must be there and is not: of whatever kind it should be. */
const isAbsent = (issue: z.core.$ZodIssue, value: unknown): boolean =>
  (issue.code === 'invalid_type' || issue.code === 'invalid_value') && at(value, issue.path) === undefined;

/** The members that may stand at a path. */
const keysAt = (schema: z.ZodType, path: readonly PropertyKey[]): string[] => {
  let here: z.ZodType | undefined = schema;
  for (const key of path) {
    const { inner }: { inner: z.ZodType } = unwrap(here);
    here = inner instanceof z.ZodArray ? (inner.element as z.ZodType) : shapeOf(inner)?.[String(key)];
    if (here === undefined) return [];
  }
  return Object.keys(shapeOf(here) ?? {});
};

const unknownKey = (key: string, path: string, known: readonly string[]): FieldError => {
  const meant = suggest(key, known);
  return {
    path: `${path}.${key.slice(0, 100)}`,
    code: 'unknown_key',
    message: meant === undefined ? 'is not known here' : `is not known here; did you mean ${meant}?`,
  };
};

const codeOf = (issue: z.core.$ZodIssue, value: unknown): string => {
  if (issue.code === 'custom') {
    const code: unknown = issue.params?.['code'];
    return typeof code === 'string' ? code : 'unacceptable';
  }
  if (isAbsent(issue, value)) return 'required';
  const counted =
    (issue.code === 'too_small' || issue.code === 'too_big') &&
    issue.origin !== 'number' &&
    issue.origin !== 'int' &&
    issue.origin !== 'bigint';
  if (counted) return issue.code === 'too_small' ? 'too_short' : 'too_long';
  return issue.code;
};

const fieldErrors = (part: RequestPart, schema: z.ZodType, issue: z.core.$ZodIssue, value: unknown): FieldError[] => {
  const path = [part, ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownKey(key, path, keysAt(schema, issue.path)));
  return [{ path, code: codeOf(issue, value), message: issue.message }];
};

/**
 * Refuses keys named `__proto__` at any depth, and nesting beyond 64 levels, whatever the schema says about unknown
 * keys.
 */
const checkStructure = (part: RequestPart, value: unknown): void => {
  const queue: { value: unknown; path: string; depth: number }[] = [{ value, path: part, depth: 0 }];
  for (let item = queue.pop(); item; item = queue.pop()) {
    if (typeof item.value !== 'object' || item.value === null) continue;
    const here =
      item.depth > 64
        ? { path: part, code: 'too_deep', message: 'at most 64 levels' }
        : Object.hasOwn(item.value, '__proto__')
          ? { path: `${item.path}.__proto__`, code: 'unknown_key', message: 'is not known here' }
          : null;
    if (here)
      throw new Problem({
        status: 400,
        code: 'invalid_request',
        detail: `${here.path}: ${here.message}.`,
        errors: [here],
      });
    for (const [key, child] of Object.entries(item.value)) {
      if (typeof child === 'object' && child !== null)
        queue.push({ value: child, path: `${item.path}.${key.slice(0, 100)}`, depth: item.depth + 1 });
    }
  }
};

/** Paths at which a null was refused, also within the branches of a union. */
const refusedNulls = (
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  before: readonly PropertyKey[] = [],
): PropertyKey[][] =>
  issues.flatMap((issue) => {
    const path = [...before, ...issue.path];
    const inner =
      issue.code === 'invalid_union' ? issue.errors.flatMap((branch) => refusedNulls(branch, value, path)) : [];
    return at(value, path) === null && typeof path.at(-1) === 'string' ? [path, ...inner] : inner;
  });

/** The value without the members at these paths. */
const without = (value: unknown, paths: readonly PropertyKey[][]): unknown => {
  const copy = structuredClone(value);
  for (const path of paths) {
    const parent = at(copy, path.slice(0, -1));
    if (typeof parent === 'object' && parent !== null && !Array.isArray(parent))
      delete (parent as Record<PropertyKey, unknown>)[path.at(-1) ?? ''];
  }
  return copy;
};

/** Null where a schema does not take it means that the member is absent: many languages write absent members so. */
const parseLeniently = (
  schema: z.ZodType,
  value: unknown,
): { parsed: z.ZodSafeParseResult<unknown>; value: unknown } => {
  const parsed = schema.safeParse(value, { error: issueWords });
  const nulls = parsed.success ? [] : refusedNulls(parsed.error.issues, value);
  if (nulls.length === 0) return { parsed, value };
  const rest = without(value, nulls);
  return { parsed: schema.safeParse(rest, { error: issueWords }), value: rest };
};

/**
 * Parses one part of a request. In a body null means absent, unless the schema gives it a meaning of its own. Throws
 * 400 `invalid_request` or 422 `unacceptable` with a field error for everything that is wrong.
 */
export const parsePart = (part: RequestPart, schema: z.ZodType, value: unknown): unknown => {
  checkStructure(part, value);
  const { parsed, value: lenient } = parseLeniently(schema, value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const errors = issues.flatMap((issue) => fieldErrors(part, schema, issue, lenient));
  const malformed = issues.some((issue) => structural.has(issue.code) || isAbsent(issue, lenient));
  const first = errors[0];
  throw new Problem({
    status: malformed ? 400 : 422,
    code: malformed ? 'invalid_request' : 'unacceptable',
    detail: first
      ? `${first.path}: ${first.message}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}${first.message.endsWith('?') ? '' : '.'}`
      : 'The request is not valid.',
    errors: errors.slice(0, maxErrors),
  });
};
