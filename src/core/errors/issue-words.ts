import type { z } from 'zod';
import { suggest } from '../config/suggest';

const kinds: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  nan: 'not a number',
  date: 'a time',
};

const forms: Record<string, string> = {
  uuid: 'an id (a UUID)',
  guid: 'an id (a UUID)',
  email: 'an e-mail address',
  url: 'a URL',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'an IPv4 network such as 10.0.0.0/24',
  cidrv6: 'an IPv6 network such as fd00::/64',
  mac: 'a MAC address',
  base64: 'base64',
  base64url: 'base64 for URLs',
  datetime: 'a time as RFC 3339, e.g. 2026-01-31T12:00:00Z',
  date: 'a day such as 2026-01-31',
  json_string: 'JSON',
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction';
  return kinds[typeof value] ?? typeof value;
};

const counted = (count: number | bigint, origin: string): string => {
  const noun =
    origin === 'string'
      ? 'character'
      : origin === 'array' || origin === 'set'
        ? 'item'
        : origin === 'object' || origin === 'record' || origin === 'map'
          ? 'member'
          : undefined;
  return noun === undefined ? String(count) : `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
};

const longestList = 30;

/** `a, b or c`, of many the first ones. */
const listed = (values: readonly unknown[]): string => {
  const words = values.slice(0, longestList).map(String);
  if (values.length > longestList) return `${words.join(', ')} …`;
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
};

/**
 * What a value must be, in the words that people use for it; undefined leaves it to the schema's own. For zod's `error`
 * parameter.
 */
export const issueWords = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'required';
      return `must be ${kinds[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case 'invalid_value': {
      const meant =
        typeof issue.input === 'string'
          ? suggest(
              issue.input,
              issue.values.filter((v) => typeof v === 'string'),
            )
          : undefined;
      if (issue.input === undefined) return `required: ${listed(issue.values)}`;
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${listed(issue.values)}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
    }
    case 'too_small':
      if (issue.origin === 'string' && Number(issue.minimum) === 1) return 'must not be empty';
      return issue.inclusive === false
        ? `must be more than ${issue.minimum}`
        : `at least ${counted(issue.minimum, issue.origin)}`;
    case 'too_big':
      return issue.inclusive === false
        ? `must be less than ${issue.maximum}`
        : `at most ${counted(issue.maximum, issue.origin)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return forms[issue.format] === undefined
        ? 'is not of the form that is expected here'
        : `must be ${forms[issue.format] ?? ''}`;
    case 'invalid_union':
      return 'is none of the forms that are possible here';
    case 'invalid_key':
      return 'has a name that is not possible here';
    case 'invalid_element':
      return 'has a member that is not possible here';
    default:
      return undefined;
  }
};
