import { updateInstance } from '../../../../src/modules/compute/contract/compute.api';
import { checkBy } from '../../lib/validate';

const checkAllTags = checkBy<string[]>(updateInstance.shape.tags, { too_big: 'At most 50 tags.' });
const checkAllMetadata = checkBy<Record<string, string>>(updateInstance.shape.metadata);

/** Tags from what was typed, with commas between. */
export const tagsOf = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

export const checkTags = (text: string): string | null => checkAllTags(tagsOf(text));

/** Its lines, each `<key>=<value>`. */
export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/** Metadata from lines. A line without `=` has the whole of it for its key. */
export const metadataOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => [line.split('=', 1)[0]?.trim() ?? '', line.slice(line.indexOf('=') + 1)]),
  );

export const checkMetadata = (text: string): string | null =>
  linesOf(text).some((line) => !line.includes('='))
    ? 'A key and its value in each line: role=web.'
    : checkAllMetadata(metadataOf(text));
