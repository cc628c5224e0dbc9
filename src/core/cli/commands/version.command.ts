import type { Command } from 'commander';
import { buildVersion as version } from '../../config/build-version';
import { CliFailure } from '../cli-failure';
import { fact } from '../output/sections';
import type { TerminalContext } from '../terminal-context';

/** `--version` and `version`: the client's, and the server's where one is logged in to. */
export const registerVersion = (program: Command, context: TerminalContext): void => {
  program.version(`vcctl ${version}`, '-V, --version', 'show the version of the client');
  program
    .command('version')
    .description('show the versions of the client and of the server')
    .action(async () => {
      const server = await serverVersion(context);
      context.show({ client: version, server }, () => [
        { facts: [fact('Client', version), fact('Server', server.version ?? server.reason)] },
      ]);
    });
};

/** What the server says of itself; a server that cannot be asked is no failure of this command. */
const serverVersion = async (context: TerminalContext): Promise<{ version: string | null; reason?: string }> => {
  try {
    const session = await context.session();
    const health = await session.client.call<{ build?: string } | undefined>({
      method: 'GET',
      path: '',
      root: '/health',
      idleMs: 5_000,
    });
    return { version: health?.build ?? null, ...(health?.build === undefined && { reason: 'does not say' }) };
  } catch (error) {
    return {
      version: null,
      reason:
        error instanceof CliFailure && error.code === 'not_logged_in'
          ? 'not logged in'
          : `does not answer (${(error as Error).message})`,
    };
  }
};
