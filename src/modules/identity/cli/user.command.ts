import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { usageFailure } from '../../../core/cli/cli-failure';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { User, Whoami } from '../contract/identity.api';
import { registerUserAccess } from './user-access.command';

const userNoun: Noun = { name: 'user', plural: 'users', path: '/users', inProject: false };

const columns: CliColumn<User>[] = [
  { header: 'name', value: (u) => u.name },
  { header: 'admin', value: (u) => (u.admin ? 'yes' : 'no') },
  { header: 'enabled', value: (u) => (u.enabled ? 'yes' : 'no') },
  { header: 'created', value: (u) => formatTime(u.createdAt), raw: (u) => u.createdAt },
  { header: 'id', value: (u) => u.id, wide: true, whole: true },
];

const view = (u: User): Section[] => [
  {
    facts: [
      fact('Name', u.name),
      fact('Admin', u.admin ? 'yes, may do everything in every project' : 'no'),
      fact('Enabled', u.enabled ? 'yes' : 'no, cannot log in', u.enabled ? undefined : 'bad'),
      fact('Created', moment(u.createdAt)),
      fact('Id', u.id),
    ],
  },
];

/** What `whoami -o json` gives: the user with its projects. */
interface Me extends User {
  via: Whoami['via'];
  project: string | null;
  projects: { name: string; role: string }[];
}

const meView = (me: Me): Section[] => [
  {
    facts: [
      fact('User', `${me.name}${me.admin ? ' (admin)' : ''}`),
      fact('Logged in by', me.via === 'session' ? 'name and password' : 'API token'),
      fact('Project', me.project ?? 'none chosen: name one with --project'),
    ],
  },
  {
    title: 'Projects',
    headers: ['name', 'your role'],
    rows: me.projects.map((p) => [p.name, p.role]),
    none: 'none yet',
  },
];

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
        const me = await context.request('get', '/whoami');
        context.show<Me>(
          {
            ...me.user,
            via: me.via,
            project: context.project() ?? null,
            projects: me.projects.map((p) => ({ name: p.name, role: p.role })),
          },
          meView,
        );
      });

    const user = nounCommand(program, context, userNoun, 'users (admins only, but passwd)');
    addListOptions(user.command('list').description('list users')).action((options: ListOptions) =>
      context.printList((search) => context.list('/users', { query: search }), columns, options),
    );
    user
      .command('create')
      .description('create a user')
      .argument('<name>')
      .option('--admin', 'may do everything in every project')
      .option('--password-stdin', 'read the password from standard input')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl user create anna\n  pwgen 20 1 | vcctl user create ci --password-stdin',
      )
      .action(async (name: string, options: { admin?: boolean; passwordStdin?: boolean }) => {
        const password = await newPassword(context, options.passwordStdin);
        context.show(
          await context.request('post', '/users', { body: { name, password, admin: options.admin ?? false } }),
          view,
        );
      });
    user
      .command('show')
      .description('show a user')
      .argument('<user>', 'name or id')
      .action(async (ref: string) => context.show(await context.get<User>('user', ref), view));
    for (const [verb, enabled] of [
      ['disable', false],
      ['enable', true],
    ] as const) {
      user
        .command(verb)
        .description(enabled ? 'let users log in again' : 'end all sessions of users and refuse their tokens')
        .argument('<user...>', 'names or ids')
        .action((refs: string[]) =>
          context.each(refs, async (ref) => ({
            text: `user ${ref} ${verb}d`,
            object: await context.request('patch', '/users/{ref}', {
              path: { ref: await context.resolve('user', ref) },
              body: { enabled },
            }),
          })),
        );
    }
    addDelete(user, context, userNoun, { description: 'delete users' });
    this.registerPassword(user, context);
  }

  private registerPassword(user: Command, context: CliContext): void {
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
          await context.request('post', '/users/me/password', {
            body: {
              current,
              password: await newPassword(context, false),
              revokeApiTokens: options.revokeTokens ?? false,
            },
          });
        } else {
          await context.request('patch', '/users/{ref}', {
            path: { ref: await context.resolve('user', ref) },
            body: { password: await newPassword(context, options.passwordStdin) },
          });
        }
        context.report({
          text: 'password changed',
          object: { noun: 'user', name: ref ?? null, result: 'password changed' },
        });
      });
    registerUserAccess(user, context);
  }
}
