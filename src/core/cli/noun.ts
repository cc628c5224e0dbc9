import type { Command } from 'commander';

/** A kind of object: how commands call it and where REST has it. */
export interface Noun {
  /** Singular, as in commands and sentences: `ssh-key`. */
  name: string;
  /** As in commands: `ssh-keys`. */
  plural: string;
  /** Its list below `/api/v1`: `/ssh-keys`. One of them is at `<path>/<id or name>`. */
  path: string;
  /** Belongs to a project: lists and references are narrowed by `--project`. */
  inProject: boolean;
  /** References are ids alone. */
  nameless?: boolean;
  /** REST has no page of a single one: it is found in the list. */
  listOnly?: boolean;
  /** Its list takes no `q`: it is short. */
  unsearched?: boolean;
}

/** The command of a noun, which its plural names too. */
export const nounCommand = (
  program: Command,
  context: { addNoun: (noun: Noun) => void },
  noun: Noun,
  description: string,
): Command => {
  context.addNoun(noun);
  return program.command(noun.name).alias(noun.plural).description(description);
};

/** `ssh-key` → `ssh key`, for sentences. */
export const words = (noun: Noun): string => noun.name.replaceAll('-', ' ');
