import { usageFailure } from '../cli-failure';

/** For what is on or off. */
export const parseYesNo = (text: string): boolean => {
  if (text !== 'yes' && text !== 'no') throw usageFailure(`"${text}" is neither yes nor no`);
  return text === 'yes';
};
