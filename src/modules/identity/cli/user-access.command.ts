import type { Command } from 'commander';
import type { CliContext } from '../../../core/cli/cli-context';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { usageFailure } from '../../../core/cli/cli-failure';
import { formatTime } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { resolveRef } from '../../../core/cli/input/ref-resolver';
import { filledPath } from '../../../rest/rest-target';
import type { Session } from '../contract/identity.api';
import { apiTokenColumns } from './api-token.command';

interface DeleteOptions {
  all?: boolean;
  yes?: boolean;
}

const sessionColumns: CliColumn<Session>[] = [
  { header: 'id', value: (s) => s.id, whole: true },
  { header: 'from', value: (s) => s.remoteAddress ?? 'unknown' },
  { header: 'opened', value: (s) => formatTime(s.createdAt), raw: (s) => s.createdAt },
  { header: 'last used', value: (s) => formatTime(s.lastUsedAt), raw: (s) => s.lastUsedAt },
  { header: 'expires', value: (s) => formatTime(s.expiresAt), raw: (s) => s.expiresAt, wide: true },
];

/** `user session` and `user api-token`: what others are logged in with, for admins. */
export const registerUserAccess = (user: Command, context: CliContext): void => {
  registerSessions(user, context);
  registerTokens(user, context);
};

const registerSessions = (user: Command, context: CliContext): void => {
  const session = user.command('session').alias('sessions').description('open sessions of a user (admins only)');
  addListOptions(
    session.command('list').description('list the open sessions of a user').argument('<user>', 'name or id'),
  ).action(async (ref: string, options: ListOptions) => {
    const path = { ref: await context.resolve('user', ref) };
    await context.printList(() => context.list('/users/{ref}/sessions', { path }), sessionColumns, options);
  });
  session
    .command('delete')
    .description('end sessions of a user; they are refused at once')
    .argument('<user>', 'name or id')
    .argument('[session...]', 'ids')
    .option('--all', 'all of them')
    .option('-y, --yes', 'do not ask; without a terminal it must be given')
    .addHelpText('after', '\nExamples:\n  vcctl user session delete anna --all')
    .action(async (ref: string, sessions: string[], options: DeleteOptions) => {
      if ((sessions.length === 0) !== (options.all === true)) throw usageFailure('name sessions, or say --all');
      if (!(await context.confirm(`End ${options.all ? 'all sessions' : sessions.join(', ')} of ${ref}?`, options.yes)))
        return;
      const owner = await context.resolve('user', ref);
      if (options.all) {
        await context.request('delete', '/users/{ref}/sessions', { path: { ref: owner } });
        return context.report({
          text: `all sessions of ${ref} ended`,
          object: { noun: 'session', user: ref, result: 'deleted' },
        });
      }
      await context.each(sessions, async (given) => {
        const id = await resolveRef(
          context,
          {
            name: 'session',
            plural: 'sessions',
            path: filledPath('/users/{ref}/sessions', { ref: owner }),
            inProject: false,
            nameless: true,
            unsearched: true,
          },
          given,
        );
        await context.request('delete', '/users/{ref}/sessions/{id}', { path: { ref: owner, id } });
        return { text: `session ${id} ended`, object: { noun: 'session', id, user: ref, result: 'deleted' } };
      });
    });
};

const registerTokens = (user: Command, context: CliContext): void => {
  const token = user.command('api-token').alias('api-tokens').description('API tokens of a user (admins only)');
  addListOptions(
    token.command('list').description('list the API tokens of a user').argument('<user>', 'name or id'),
  ).action(async (ref: string, options: ListOptions) => {
    const path = { ref: await context.resolve('user', ref) };
    await context.printList(
      (search) => context.list('/users/{ref}/api-tokens', { path, query: search }),
      apiTokenColumns,
      options,
    );
  });
  token
    .command('delete')
    .description('delete API tokens of a user; they are refused at once')
    .argument('<user>', 'name or id')
    .argument('<token...>', 'names or ids')
    .option('-y, --yes', 'do not ask; without a terminal it must be given')
    .action(async (ref: string, tokens: string[], options: DeleteOptions) => {
      if (!(await context.confirm(`Delete ${tokens.join(', ')} of ${ref}?`, options.yes))) return;
      const owner = await context.resolve('user', ref);
      await context.each(tokens, async (name) => {
        const token = await resolveRef(
          context,
          {
            name: 'api-token',
            plural: 'api-tokens',
            path: filledPath('/users/{ref}/api-tokens', { ref: owner }),
            inProject: false,
          },
          name,
        );
        await context.request('delete', '/users/{ref}/api-tokens/{token}', { path: { ref: owner, token } });
        return { text: `API token ${name} deleted`, object: { noun: 'api-token', name, user: ref, result: 'deleted' } };
      });
    });
};
