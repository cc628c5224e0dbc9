import type { StepContext } from './definition';

/**
 * What a fragment, a step that a contract exports for the workflows of others, asks of the workflow that it is part of.
 * Undefined while the step that says so has not run.
 */
export type Known<I, O, T> = (c: StepContext<I, Partial<O>>) => T | undefined;

/** For what has run before the fragment, or the fragment would not be at work. */
export const certain = <I, O, T>(known: Known<I, O, T>, c: StepContext<I, Partial<O>>): T => {
  const value = known(c);
  if (value === undefined) throw new Error('a step is at work before the one that it builds on');
  return value;
};
