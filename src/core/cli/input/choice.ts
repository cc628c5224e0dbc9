import type { Argument, Option } from 'commander';
import { suggest } from '../../config/suggest';
import { usageFailure } from '../cli-failure';

/**
 * Lets an option or argument have these values only, in any case: completion offers them, and another one is refused
 * with what there is and what was probably meant.
 */
export const choice = <A extends Option | Argument>(target: A, values: readonly string[]): A => {
  target.choices(values);
  const label = 'long' in target ? (target.long ?? target.flags) : `<${target.name()}>`;
  target.argParser((value: string) => oneOf(value, values, label));
  return target;
};

/** The value among `values` that is meant. Throws a usage failure that names them. */
export const oneOf = (value: string, values: readonly string[], label: string): string => {
  const found = values.find((v) => v.toLowerCase() === value.toLowerCase());
  if (found !== undefined) return found;
  const meant = suggest(value, values);
  throw usageFailure(
    `${label}: "${value}" is not one of ${values.join(', ')}${meant ? `; did you mean ${meant}?` : ''}`,
  );
};
