import { Argument, type Command } from 'commander';
import { choice } from '../input/choice';
import { complete, type NameSource } from './complete';
import { completionScript, shells, type Shell } from './completion';
import { itemsOf } from '../input/ref-resolver';
import type { TerminalContext } from '../terminal-context';

/** A shell that waits longer for a candidate is a shell that hangs. Milliseconds. */
const patienceMs = 2_000;
/** Names that are offered. */
const most = 500;

/** `completion`, and the hidden command that its scripts ask. */
export const registerCompletion = (program: Command, context: TerminalContext): void => {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(choice(new Argument('<shell>', shells.join(', ')), shells))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(vcctl completion bash)                              # in ~/.bashrc\n  source <(vcctl completion zsh)                               # in ~/.zshrc, after compinit\n  vcctl completion fish > ~/.config/fish/completions/vcctl.fish',
    )
    .action((shell: Shell) => void process.stdout.write(completionScript(program.name(), shell)));

  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      await context.prepare({ output: { kind: 'table' }, ...globalsIn(words) });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<string[]>((resolve) => (timer = setTimeout(() => resolve([]), patienceMs)));
      const found = await Promise.race([complete(program, words, sourceOf(context)), late]);
      clearTimeout(timer);
      process.stdout.write(found.map((word) => `${word}\n`).join(''));
    });
};

const sourceOf = (context: TerminalContext): NameSource => ({
  nouns: context.nouns,
  // Somebody who is not logged in, or whose server is away, completes commands and options still.
  names: async (noun) => {
    try {
      const items = await itemsOf<{ id: string; name?: string }>(context, noun, undefined, most);
      return items
        .map((item) => (noun.nameless ? item.id : (item.name ?? item.id)))
        .filter((name) => !/[\n\r]/.test(name));
    } catch {
      return [];
    }
  },
  profiles: async () => (await context.store.load()).profiles.map((p) => p.name),
});

/** `--project` and `--profile` among the words so far. */
const globalsIn = (words: string[]): { project?: string; profile?: string } => {
  const valueOf = (name: string): string | undefined => {
    const at = words.indexOf(name);
    return at >= 0 && at < words.length - 2
      ? words[at + 1]
      : words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  };
  const [project, profile] = [valueOf('--project'), valueOf('--profile')];
  return { ...(project !== undefined && { project }), ...(profile !== undefined && { profile }) };
};
