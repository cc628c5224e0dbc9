import type { Command } from 'commander';
import { withArticle } from '../../errors/article';
import type { CliContext } from '../cli-context';
import { usageFailure } from '../cli-failure';
import { words, type Noun } from '../noun';

/** A member that `edit` may change, and the option that changes it without an editor. */
export interface Editable {
  member: string;
  /** E.g. `--description <text>`. */
  flags: string;
  description: string;
  /** Text of the option → value of the member, or a promise of it. */
  parse?: (text: string) => unknown;
  /** May be given several times: the member is a list, or what is made of one. */
  list?: boolean | ((texts: readonly string[]) => unknown);
}

type Named = { id: string; name: string } & Record<string, unknown>;

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];
const attribute = (flags: string): string =>
  (/--([a-z-]+)/.exec(flags)?.[1] ?? '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const patch = async (context: CliContext, noun: Noun, path: string, body: object): Promise<Named> =>
  context.requestAt<Named>('PATCH', path, { body, ...(noun.inProject && { query: { project: context.project() } }) });

/** `<noun> rename`. `note` is told afterwards. */
export const addRename = (parent: Command, context: CliContext, noun: Noun, note?: string): Command =>
  parent
    .command('rename')
    .description(`give ${withArticle(words(noun))} another name${note === undefined ? '' : `; ${note}`}`)
    .argument(`<${noun.name}>`, 'name or id')
    .argument('<new-name>')
    .addHelpText('after', `\nExamples:\n  vcctl ${noun.name} rename old new`)
    .action(async (ref: string, name: string) => {
      const object = await patch(context, noun, await context.pathOf(noun.name, ref), { name });
      context.report({ text: `${words(noun)} ${ref} is now called ${object.name}`, object });
    });

/** `<noun> edit`: by options, or without any in the user's editor. */
export const addEdit = (
  parent: Command,
  context: CliContext,
  noun: Noun,
  members: Editable[],
  { task = false } = {},
): Command => {
  const command = parent
    .command('edit')
    .description(`change ${withArticle(words(noun))}: by options, or without any in your editor ($VISUAL or $EDITOR)`)
    .argument(`<${noun.name}>`, 'name or id');
  for (const { flags, description, list } of members) {
    if (list !== undefined) command.option(flags, description, collect);
    else command.option(flags, description);
  }
  if (task) command.option('-w, --wait', 'return when its host knows');
  return command.action(async (ref: string, options: Record<string, string | string[] | boolean | undefined>) => {
    const given: [string, unknown][] = [];
    for (const { member, flags, parse, list } of members) {
      const value = options[attribute(flags)];
      if (value === undefined) continue;
      if (typeof value === 'string' && parse) given.push([member, await parse(value)]);
      else given.push([member, Array.isArray(value) && typeof list === 'function' ? list(value) : value]);
    }
    const resolved = await context.resolve(noun.name, ref);
    const path = `${noun.path}/${encodeURIComponent(resolved)}`;
    const body = given.length > 0 ? Object.fromEntries(given) : await inEditor(context, noun, resolved, members);
    if (Object.keys(body).length === 0) return context.info('Nothing was changed.');
    const object = await patch(context, noun, path, body);
    const { taskId } = object;
    if (options['wait'] === true && typeof taskId === 'string') await context.follow(taskId);
    context.report({ text: `${words(noun)} ${ref} changed: ${Object.keys(body).join(', ')}`, object });
  });
};

/** The members that the user changed in an editor. */
const inEditor = async (
  context: CliContext,
  noun: Noun,
  ref: string,
  members: Editable[],
): Promise<Record<string, unknown>> => {
  if (!process.stdin.isTTY)
    throw usageFailure(
      `there is no terminal for an editor: name what to change (${members.map((m) => m.flags.split(' ')[0]).join(', ')})`,
    );
  const object = await context.get<Named>(noun.name, ref);
  const before = Object.fromEntries(members.map(({ member }) => [member, object[member]]));
  const { editYaml } = await import('./editor.js');
  const after = await editYaml(before, [
    `${words(noun)} ${object.name} (${object.id})`,
    'Save and leave the editor to change it; leave it as it is to change nothing.',
  ]);
  const unknown = Object.keys(after).find((key) => !members.some((m) => m.member === key));
  if (unknown !== undefined)
    throw usageFailure(`"${unknown}" cannot be changed; there are ${members.map((m) => m.member).join(', ')}`);
  return Object.fromEntries(
    Object.entries(after).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key])),
  );
};
