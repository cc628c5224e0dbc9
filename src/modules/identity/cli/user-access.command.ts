import type { Command } from 'commander';
import type { CliContext } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import { formatTime } from '../../../core/cli/format';
import type { ApiToken, Session } from '../contract/identity.api';
import { apiTokenColumns } from './api-token.command';

/** `user session` and `user api-token`: what others are logged in with, for admins. */
export const registerUserAccess = (user: Command, context: CliContext): void => {
  const session = user.command('session').description('open sessions of a user (admins only)');
  session
    .command('list')
    .description('list the open sessions of a user')
    .argument('<user>', 'name or id')
    .action(async (ref: string) => {
      context.print(await context.list<Session>(`/users/${encodeURIComponent(ref)}/sessions`), [
        { header: 'id', value: (s) => s.id },
        { header: 'from', value: (s) => s.remoteAddress ?? 'unknown' },
        { header: 'opened', value: (s) => formatTime(s.createdAt) },
        { header: 'last used', value: (s) => formatTime(s.lastUsedAt) },
        { header: 'expires', value: (s) => formatTime(s.expiresAt), wide: true },
      ]);
    });
  session
    .command('delete')
    .description('end sessions of a user; they are refused at once')
    .argument('<user>', 'name or id')
    .argument('[session...]', 'ids')
    .option('--all', 'all of them')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExamples:\n  vcctl user session delete anna --all')
    .action(async (ref: string, ids: string[], options: { all?: boolean; yes?: boolean }) => {
      if ((ids.length === 0) !== (options.all === true)) throw usageFailure('name sessions, or say --all');
      if (!options.yes && !(await context.confirm(`End ${options.all ? 'all sessions' : ids.join(', ')} of ${ref}?`))) return;
      if (options.all) {
        await context.request('DELETE', `/users/${encodeURIComponent(ref)}/sessions`);
        context.info(`all sessions of ${ref} ended`);
        return;
      }
      await context.each(ids, async (id) => {
        await context.request('DELETE', `/users/${encodeURIComponent(ref)}/sessions/${encodeURIComponent(id)}`);
        context.info(`session ${id} ended`);
      });
    });
  const token = user.command('api-token').description('API tokens of a user (admins only)');
  token
    .command('list')
    .description('list the API tokens of a user')
    .argument('<user>', 'name or id')
    .action(async (ref: string) => {
      context.print(await context.list<ApiToken>(`/users/${encodeURIComponent(ref)}/api-tokens`), apiTokenColumns);
    });
  token
    .command('delete')
    .description('delete API tokens of a user; they are refused at once')
    .argument('<user>', 'name or id')
    .argument('<token...>', 'names or ids')
    .option('-y, --yes', 'do not ask')
    .action(async (ref: string, tokens: string[], options: { yes?: boolean }) => {
      if (!options.yes && !(await context.confirm(`Delete ${tokens.join(', ')} of ${ref}?`))) return;
      await context.each(tokens, async (name) => {
        await context.request('DELETE', `/users/${encodeURIComponent(ref)}/api-tokens/${encodeURIComponent(name)}`);
        context.info(`API token ${name} deleted`);
      });
    });
};
