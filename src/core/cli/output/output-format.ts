import { suggest } from '../../config/suggest';
import { usageFailure } from '../cli-failure';

export const outputFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;

/** `-o`. */
export interface OutputFormat {
  kind: (typeof outputFormats)[number] | 'jsonpath';
  /** With `jsonpath`: the expression, as RFC 9535 has it. */
  expression?: string;
}

/** Read by people rather than programs. */
export const forPeople = (format: OutputFormat): boolean => format.kind === 'table' || format.kind === 'wide';

/** `{.items[*].name}`, `.name` and `$.name` → `$.name`. */
const standardForm = (text: string): string => {
  const bare = /^\{(.*)\}$/su.exec(text.trim())?.[1]?.trim() ?? text.trim();
  return bare.startsWith('$') ? bare : bare.startsWith('.') || bare.startsWith('[') ? `$${bare}` : `$.${bare}`;
};

/** `-o` as typed. Throws a usage failure that names what there is. */
export const parseOutputFormat = (value: string): OutputFormat => {
  const expression = /^jsonpath=(.*)$/su.exec(value)?.[1];
  if (expression !== undefined && expression.trim() !== '')
    return { kind: 'jsonpath', expression: standardForm(expression) };
  const kind = outputFormats.find((format) => format === value);
  if (kind) return { kind };
  const meant = suggest(value, outputFormats);
  throw usageFailure(
    `--output: "${value}" is not a form of output${meant ? `; did you mean ${meant}?` : '.'} There are ${outputFormats.join(', ')} and jsonpath=<expression>.`,
  );
};
