import type { Command, Option } from 'commander';
import { filesMark } from './completion';
import type { Noun } from '../noun';

/** Where live names come from. */
export interface NameSource {
  /** Names of the noun's objects, or ids of those without names. */
  names: (noun: Noun) => Promise<string[]>;
  profiles: () => Promise<string[]>;
  nouns: ReadonlyMap<string, Noun>;
}

interface Place {
  command: Command;
  /** Positional words of the command before the one that is completed. */
  position: number;
  /** The option whose value is completed. */
  option: Option | undefined;
}

const optionOf = (command: Command, word: string): Option | undefined => {
  for (let at: Command | null = command; at; at = at.parent) {
    const found = at.options.find((o) => o.long === word || o.short === word);
    if (found) return found;
  }
  return undefined;
};
const takesValue = (option: Option | undefined): option is Option =>
  option !== undefined && (option.required || option.optional);

/** Reads the words as commander will. */
const placeOf = (program: Command, words: string[]): Place => {
  const place: Place = { command: program, position: 0, option: undefined };
  for (const word of words) {
    if (place.option) {
      place.option = undefined;
      continue;
    }
    if (word.startsWith('-') && word.length > 1) {
      const option = word.includes('=') ? undefined : optionOf(place.command, word);
      if (takesValue(option)) place.option = option;
      continue;
    }
    const child =
      place.position === 0
        ? place.command.commands.find((c) => c.name() === word || c.aliases().includes(word))
        : undefined;
    if (child) place.command = child;
    else place.position += 1;
  }
  return place;
};

/** `--network <network[,address=IPv4]>` → network; `<file|name>` → file. */
const kindOf = (placeholder: string): string => /^[a-z-]+/i.exec(placeholder.replace(/^[<[]/, ''))?.[0] ?? '';

const fileKinds = new Set(['file', 'path']);

const candidates = async (
  kind: string,
  choices: readonly string[] | undefined,
  source: NameSource,
): Promise<string[]> => {
  if (choices) return [...choices];
  const noun = source.nouns.get(kind);
  if (noun) return source.names(noun);
  return fileKinds.has(kind) ? [filesMark] : [];
};

const ofOption = async (option: Option, source: NameSource): Promise<string[]> => {
  if (option.attributeName() === 'output') return ['table', 'wide', 'json', 'yaml', 'name', 'jsonpath='];
  if (option.attributeName() === 'profile') return source.profiles();
  const kind =
    option.attributeName() === 'project' ? 'project' : kindOf(/<[^>]*>|\[[^\]]*\]/.exec(option.flags)?.[0] ?? '');
  return candidates(kind, option.argChoices, source);
};

const optionsOf = (command: Command): string[] => {
  const names = command.options.filter((o) => !o.hidden).flatMap((o) => (o.long ? [o.long] : []));
  return [...names, ...(command.parent ? optionsOf(command.parent) : ['--help'])];
};

/**
 * What may stand for the last of `words`, which may be empty. Never throws for want of a server: then there are no
 * names.
 */
export const complete = async (program: Command, words: string[], source: NameSource): Promise<string[]> => {
  const current = words.at(-1) ?? '';
  const { command, position, option } = placeOf(program, words.slice(0, -1));
  const begun = (all: string[]): string[] =>
    all[0] === filesMark ? all : [...new Set(all)].filter((word) => word.startsWith(current));
  if (option) return begun(await ofOption(option, source));
  if (current.startsWith('--') && current.includes('=')) {
    const [name = ''] = current.split('=');
    const given = optionOf(command, name);
    return takesValue(given)
      ? begun((await ofOption(given, source)).map((value) => (value === filesMark ? value : `${name}=${value}`)))
      : [];
  }
  if (current.startsWith('-')) return begun(optionsOf(command));
  if (command.commands.length > 0 && position === 0)
    return begun(command.commands.map((c) => c.name()).filter((name) => !name.startsWith('__')));
  const args = command.registeredArguments;
  const argument = args[Math.min(position, args.length - 1)];
  if (!argument || (position >= args.length && !argument.variadic)) return [];
  if (argument.name() === 'command' && command.name() === 'help')
    return begun(program.commands.map((c) => c.name()).filter((name) => !name.startsWith('__')));
  if (argument.name() === 'name' && command.parent?.name() === 'profile') return begun(await source.profiles());
  return begun(await candidates(argument.name(), argument.argChoices, source));
};
