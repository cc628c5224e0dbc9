import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { usageFailure } from '../../../core/cli/cli-failure';
import { formatTime } from '../../../core/cli/format';
import type { User, Whoami } from '../contract/identity.api';
import { registerUserAccess } from './user-access.command';

const pathOf = (ref: string): string => `/users/${encodeURIComponent(ref)}`;

const newPassword = async (context: CliContext, fromStdin: boolean | undefined): Promise<string> => {
  if (fromStdin) return context.stdinLine();
  const password = await context.secret('New password: ');
  if ((await context.secret('Again: ')) !== password) throw usageFailure('the passwords differ');
  return password;
};

/** `whoami` and `user`. */
export class UserCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    program
      .command('whoami')
      .description('who is logged in, and its projects')
      .action(async () => {
        const me = await context.request<Whoami>('GET', '/whoami');
        context.printOne({ ...me.user, via: me.via, project: context.project() ?? null, projects: me.projects.map((p) => ({ name: p.name, role: p.role })) });
      });

    const user = program.command('user').description('users (admins only, but passwd)');
    user
      .command('list')
      .description('list users')
      .action(async () => {
        context.print(await context.list<User>('/users'), [
          { header: 'name', value: (u) => u.name },
          { header: 'admin', value: (u) => (u.admin ? 'yes' : 'no') },
          { header: 'enabled', value: (u) => (u.enabled ? 'yes' : 'no') },
          { header: 'created', value: (u) => formatTime(u.createdAt) },
          { header: 'id', value: (u) => u.id, wide: true },
        ]);
      });
    user
      .command('create')
      .description('create a user')
      .argument('<name>')
      .option('--admin', 'may do everything in every project')
      .option('--password-stdin', 'read the password from standard input')
      .addHelpText('after', '\nExamples:\n  vcctl user create anna\n  pwgen 20 1 | vcctl user create ci --password-stdin')
      .action(async (name: string, options: { admin?: boolean; passwordStdin?: boolean }) => {
        const password = await newPassword(context, options.passwordStdin);
        context.printOne(await context.request<User>('POST', '/users', { body: { name, password, admin: options.admin ?? false } }));
      });
    user
      .command('show')
      .description('show a user')
      .argument('<user>', 'name or id')
      .action(async (ref: string) => context.printOne(await context.request<User>('GET', pathOf(ref))));
    for (const [verb, enabled] of [
      ['disable', false],
      ['enable', true],
    ] as const) {
      user
        .command(verb)
        .description(enabled ? 'let users log in again' : 'end all sessions of users and refuse their tokens')
        .argument('<user...>', 'names or ids')
        .action((refs: string[]) =>
          context.each(refs, async (ref) => {
            await context.request('PATCH', pathOf(ref), { body: { enabled } });
            context.info(`user ${ref} ${verb}d`);
          }),
        );
    }
    user
      .command('delete')
      .description('delete users')
      .argument('<user...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .action(async (refs: string[], options: { yes?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Delete ${refs.join(', ')}?`))) return;
        await context.each(refs, async (ref) => {
          await context.request('DELETE', pathOf(ref));
          context.info(`user ${ref} deleted`);
        });
      });
    user
      .command('passwd')
      .description("change your own password, or as an admin another user's")
      .argument('[user]', 'name or id; yourself when missing')
      .option('--revoke-tokens', 'end your API tokens too; another user loses them anyway')
      .option('--password-stdin', "read another user's new password from standard input")
      .addHelpText('after', '\nExamples:\n  vcctl user passwd\n  vcctl user passwd anna')
      .action(async (ref: string | undefined, options: { passwordStdin?: boolean; revokeTokens?: boolean }) => {
        if (ref === undefined) {
          const current = await context.secret('Current password: ');
          await context.request('POST', '/users/me/password', { body: { current, password: await newPassword(context, false), revokeApiTokens: options.revokeTokens ?? false } });
        } else {
          await context.request('PATCH', pathOf(ref), { body: { password: await newPassword(context, options.passwordStdin) } });
        }
        context.info('password changed');
      });
    registerUserAccess(user, context);
  }
}
