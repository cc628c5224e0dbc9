import { Command, CommanderError, Option } from 'commander';
import { registerApi } from './commands/api.command';
import type { CliRegistrar } from './cli-context';
import { exitCodes, usageFailure } from './cli-failure';
import { registerCompletion } from './commands/completion.command';
import { printFailure } from './output/error-printer';
import { registerHelp } from './commands/help.command';
import { forPeople, outputFormats, parseOutputFormat, type OutputFormat } from './output/output-format';
import { registerSession } from './commands/session.commands';
import { TerminalContext } from './terminal-context';
import { registerVersion } from './commands/version.command';

/** The form of output that the command line asks for, also where it is wrong otherwise: errors keep to it. */
const formatIn = (args: string[]): OutputFormat => {
  const at = args.findIndex(
    (arg) => arg === '-o' || arg === '--output' || arg.startsWith('--output=') || /^-o./.test(arg),
  );
  const arg = args[at] ?? '';
  const value = arg === '-o' || arg === '--output' ? (args[at + 1] ?? '') : arg.replace(/^(--output=|-o)/, '');
  try {
    return value === '' ? { kind: 'table' } : parseOutputFormat(value);
  } catch {
    return { kind: 'table' };
  }
};

/** Runs one command line and returns the exit code. `argv` as Node gives it. */
export const runVcctl = async (argv: string[], env: NodeJS.ProcessEnv, registrars: CliRegistrar[]): Promise<number> => {
  const context = new TerminalContext(env);
  const format = formatIn(argv.slice(2));
  const program = buildProgram(context, registrars, format);
  try {
    await program.parseAsync(argv);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof CommanderError)) return context.prepared ? context.fail(error) : printFailure(error, format);
    if (error.exitCode === 0) return exitCodes.ok;
    // For people it is printed already, with the way to the help.
    if (!forPeople(format)) printFailure(usageFailure(error.message.replace(/^error: /, '')), format);
    return exitCodes.usage;
  } finally {
    await context.close();
  }
};

/** The whole command tree. Exported for completion, help and tests. */
export const buildProgram = (
  context: TerminalContext,
  registrars: CliRegistrar[],
  format: OutputFormat = { kind: 'table' },
): Command => {
  const program = new Command('vcctl')
    .description('Client of VC Stack, a private cloud')
    .option('--profile <name>', 'profile to use (also VCCTL_PROFILE); the current one when missing')
    .option('--project <project>', "project to work in (also VCCTL_PROJECT); the profile's when missing")
    .addOption(
      new Option('-o, --output <format>', `form of the result: ${outputFormats.join(', ')} or jsonpath=<expression>`)
        .argParser(parseOutputFormat)
        .default({ kind: 'table' }, 'table'),
    )
    .configureOutput({ writeErr: (text) => void (forPeople(format) && process.stderr.write(text)) })
    .showHelpAfterError('(--help shows what there is)')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  vcctl login https://10.0.0.1:8443
  vcctl instance create web --flavor tiny --image linux --network n1 --key me.pub --wait
  vcctl instance list --filter state=running --sort -created -o wide
  vcctl instance list -o 'jsonpath=$[*].ports[0].address'
  vcctl instance console web

References: an object is named by its name, its id, or the first digits of its id (at least four).
With -o json or yaml an error is the server's problem document, on standard error.
Colours show on a terminal only; NO_COLOR=1 switches them off.

Exit codes: 0 done, 1 failed, 2 wrong usage or ambiguous name, 3 not logged in, 4 not found, 5 conflict.`,
    );
  program.hook('preAction', async (_program, action) => {
    await context.prepare(action.optsWithGlobals(), action);
  });
  registerSession(program, context);
  for (const registrar of registrars) registrar.register(program, context);
  registerApi(program, context);
  registerCompletion(program, context);
  registerVersion(program, context);
  registerHelp(program);
  finish(program);
  return program;
};

const aliases: Record<string, string> = { list: 'ls', show: 'get', delete: 'rm', remove: 'rm' };

/**
 * What holds for every command: the short names of the verbs, and that commander never ends the process by itself (a
 * command's own exit handling is inherited only by commands made after it).
 */
const finish = (command: Command): void => {
  command.exitOverride();
  for (const child of command.commands) {
    const alias = aliases[child.name()];
    if (alias !== undefined && command.parent !== null) child.alias(alias);
    finish(child);
  }
};
