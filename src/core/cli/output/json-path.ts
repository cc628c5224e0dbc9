import { jsonpath } from 'json-p3';
import { CliFailure, exitCodes } from '../cli-failure';

/**
 * What the expression (RFC 9535) finds, one per line: texts as they are, all else as JSON. Exits with 2 when it is
 * none.
 */
export const findByPath = (value: object, expression: string): string => {
  let found: unknown[];
  try {
    found = jsonpath.query(expression, value as Parameters<typeof jsonpath.query>[1]).values();
  } catch (error) {
    throw new CliFailure(`--output: ${expression} is not a JSONPath: ${(error as Error).message}`, {
      exitCode: exitCodes.usage,
      code: 'usage',
      hint: 'For example: -o jsonpath=$[*].name, or -o jsonpath=$.ports[0].address',
    });
  }
  return found.map((item) => `${typeof item === 'string' ? item : JSON.stringify(item)}\n`).join('');
};
