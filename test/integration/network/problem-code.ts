import { Problem } from '../../../src/core/errors/problem';

/** The code of the problem that something was refused with, or `none`. */
export const code = async (run: Promise<unknown>): Promise<string> => {
  try {
    await run;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return 'none';
};
