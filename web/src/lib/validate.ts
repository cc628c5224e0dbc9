/**
 * What a form can check before it asks: the schemas of the contracts, which the server checks with too, and their words.
 * Each check answers the message, or null when all is well. For forms alone: the schemas are no part of the first load.
 */
import { z } from 'zod';
import { issueWords } from '../../../src/core/errors/issue-words';
import * as field from '../../../src/core/http/routes/fields';

export type Check<T> = (value: T) => string | null;

/** What is said of an issue in a form's own words, by its kind. */
type Words = { [Kind in z.core.$ZodIssue['code']]?: string };

const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.?]$/.test(words) ? '' : '.'}`;

/** The check of one member of a request. `words` for where a form says it better than the server. */
export const checkBy =
  <T>(schema: z.ZodType, words: Words | string = {}): Check<T> =>
  (value) => {
    const issue = schema.safeParse(value, { error: issueWords }).error?.issues[0];
    if (issue === undefined) return null;
    return typeof words === 'string' ? words : (words[issue.code] ?? sentence(issue.message));
  };

/** The check of a text that is to be a whole number. The schema must have both limits. */
export const checkWhole = (schema: z.ZodType): Check<string> => {
  const inner = schema instanceof z.ZodDefault ? schema.unwrap() : schema;
  if (!(inner instanceof z.ZodNumber)) throw new Error('not the schema of a number');
  const check = checkBy<number>(schema, `A whole number from ${inner.minValue} to ${inner.maxValue}.`);
  return (text) => check(/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN);
};

export const checkName = checkBy<string>(field.displayName, { too_small: 'A name is needed.' });
export const checkDescription = checkBy<string>(field.description);
