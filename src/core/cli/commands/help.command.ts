import type { Command } from 'commander';
import { suggest } from '../../config/suggest';
import { usageFailure } from '../cli-failure';

/** The command below `parent` that a word names. */
const childOf = (parent: Command, word: string): Command => {
  const found = parent.commands.find((c) => c.name() === word || c.aliases().includes(word));
  if (found) return found;
  const meant = suggest(
    word,
    parent.commands.flatMap((c) => [c.name(), ...c.aliases()]),
  );
  throw usageFailure(`there is no command "${word}"${meant ? `; did you mean ${meant}?` : ''}`);
};

/** `help`, with the words of a command of any depth: `help instance create`. */
export const registerHelp = (program: Command): void => {
  program
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'its words, e.g. instance create')
    .action((path: string[]) => {
      process.stdout.write(path.reduce(childOf, program).helpInformation());
    });
};
