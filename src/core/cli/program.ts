import { Command, CommanderError, Option } from 'commander';
import type { CliRegistrar } from './cli-context';
import { CliFailure, exitCodes } from './cli-failure';
import { completionScript } from './completion';
import { describeFailure } from './error-printer';
import { outputFormats } from './output-format';
import { registerSession } from './session.commands';
import { TerminalContext } from './terminal-context';

/** Runs one command line and returns the exit code. `argv` as Node gives it. */
export const runVcctl = async (argv: string[], env: NodeJS.ProcessEnv, registrars: CliRegistrar[]): Promise<number> => {
  const context = new TerminalContext(env);
  const program = buildProgram(context, registrars);
  try {
    await program.parseAsync(argv);
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const { lines, exitCode } = describeFailure(error);
    for (const line of lines) context.info(line);
    return exitCode;
  } finally {
    await context.close();
  }
};

/** The whole command tree. Exported for completion, help and tests. */
export const buildProgram = (context: TerminalContext, registrars: CliRegistrar[]): Command => {
  const program = new Command('vcctl')
    .description('Client of VC Stack, a private cloud')
    .option('--profile <name>', 'profile to use (also VCCTL_PROFILE); the current one when missing')
    .option('--project <name>', "project to work in (also VCCTL_PROJECT); the profile's when missing")
    .addOption(new Option('-o, --output <format>', 'form of the result').choices(outputFormats).default('table'))
    .showHelpAfterError('(--help shows what there is)')
    .addHelpText(
      'after',
      `
Examples:
  vcctl login https://10.0.0.1:8443
  vcctl instance create web --flavor tiny --image linux --network n1 --key me.pub --wait
  vcctl instance list -o wide
  vcctl instance console web

Exit codes: 0 done, 1 failed, 2 wrong usage or ambiguous name, 3 not logged in, 4 not found, 5 conflict.`,
    );
  program.hook('preAction', async (_program, action) => {
    await context.prepare(action.optsWithGlobals());
  });
  registerSession(program, context);
  for (const registrar of registrars) registrar.register(program, context);
  program
    .command('completion')
    .description('print a completion script for a shell')
    .argument('<shell>', 'bash or zsh')
    .addHelpText('after', '\nExamples:\n  source <(vcctl completion bash)\n  vcctl completion zsh > ~/.vcctl.zsh')
    .action((shell: string) => {
      if (shell !== 'bash' && shell !== 'zsh') throw new CliFailure(`there is no completion for "${shell}"; bash and zsh have one`, { exitCode: exitCodes.usage, code: 'usage' });
      process.stdout.write(completionScript(program, shell));
    });
  exitByThrowing(program);
  return program;
};

/** Commander would end the process by itself; a command's own exit handling is inherited only by commands made after it. */
const exitByThrowing = (command: Command): void => {
  command.exitOverride();
  command.commands.forEach(exitByThrowing);
};
