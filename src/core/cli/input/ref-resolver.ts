import { withArticle } from '../../errors/article';
import type { CliContext } from '../cli-context';
import { CliFailure, exitCodes, usageFailure } from '../cli-failure';
import { words, type Noun } from '../noun';

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** The beginning of an id, at least four digits of it. */
const prefixPattern = /^(?:[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]{0,27})$/i;
/** Candidates that are named when a prefix fits several. */
const named = 5;

interface Item {
  id: string;
  name?: string;
}

type Lister = Pick<CliContext, 'listAt' | 'project'>;

/** The objects of the noun in the user's project. */
export const itemsOf = <T extends Item>(context: Lister, noun: Noun, q?: string, limit?: number): Promise<T[]> =>
  context.listAt<T>(noun.path, { ...(noun.inProject && { project: context.project() }), q }, limit);

const missing = (noun: Noun, ref: string): CliFailure =>
  new CliFailure(`There is no ${words(noun)} "${ref}".`, { exitCode: exitCodes.notFound, code: 'not_found' });

const several = (noun: Noun, what: string, found: Item[], hint: string): CliFailure =>
  new CliFailure(
    `Several ${words(noun)}s ${what}: ${found
      .slice(0, named)
      .map((i) => (i.name === undefined ? i.id : `${i.id} (${i.name})`))
      .join(', ')}${found.length > named ? ` and ${found.length - named} more` : ''}.`,
    {
      exitCode: exitCodes.usage,
      code: 'ambiguous_reference',
      hint,
    },
  );

/**
 * Id or name for a path or a body. What looks like the beginning of an id is looked up, and so is a name that would
 * change the path that it is put into (`..`). A name always wins over the beginning of an id.
 */
export const resolveRef = async (context: Lister, noun: Noun, ref: string): Promise<string> => {
  if (ref === '') throw usageFailure(`the ${words(noun)} must have a name or an id: "" is none`);
  if (idPattern.test(ref)) return ref.toLowerCase();
  const unusable = ref === '.' || ref === '..';
  const prefix = prefixPattern.test(ref);
  if (!unusable && !prefix) {
    if (noun.nameless) throw usageFailure(`"${ref}" is not the id of ${withArticle(words(noun))}, nor its beginning`);
    return ref;
  }
  // The server finds names that hold it and ids that begin with it.
  const items = await itemsOf(context, noun, unusable || noun.unsearched ? undefined : ref);
  const same = noun.nameless ? [] : items.filter((item) => item.name === ref);
  if (same.length > 0) {
    if (!unusable) return ref;
    if (same.length > 1)
      throw several(noun, `are named "${ref}"`, same, 'Name it by its id, or narrow with --project.');
    return same[0]?.id ?? ref;
  }
  const begun = prefix ? items.filter((item) => item.id.startsWith(ref.toLowerCase())) : [];
  if (begun.length > 1) throw several(noun, `have ids that begin with ${ref}`, begun, 'Give more digits of it.');
  if (begun[0]) return begun[0].id;
  if (unusable || noun.nameless) throw missing(noun, ref);
  return ref;
};

/** The object that the user means, where REST has no page of a single one. */
export const findInList = async <T extends Item>(context: Lister, noun: Noun, ref: string): Promise<T> => {
  const resolved = await resolveRef(context, noun, ref);
  const found = (await itemsOf<T>(context, noun)).filter((item) => item.id === resolved || item.name === resolved);
  if (found.length > 1)
    throw several(noun, `are named "${ref}"`, found, 'Name it by its id, or narrow with --project.');
  if (!found[0]) throw missing(noun, ref);
  return found[0];
};
