import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { parseInteger } from '../../../core/cli/input/parse-size';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { ApiToken } from '../contract/identity.api';

const apiTokenNoun: Noun = {
  name: 'api-token',
  plural: 'api-tokens',
  path: '/api-tokens',
  inProject: false,
  listOnly: true,
};

const scopesOf = (token: ApiToken): string => token.scopes?.join(', ') ?? 'all that you may';
const never = (at: string | null): string => (at === null ? 'never' : formatTime(at));

export const apiTokenColumns: CliColumn<ApiToken>[] = [
  { header: 'name', value: (t) => t.name },
  { header: 'scopes', value: (t) => t.scopes?.join(', ') ?? 'all' },
  { header: 'expires', value: (t) => never(t.expiresAt), raw: (t) => t.expiresAt },
  { header: 'last used', value: (t) => never(t.lastUsedAt), raw: (t) => t.lastUsedAt },
  { header: 'created', value: (t) => formatTime(t.createdAt), raw: (t) => t.createdAt, wide: true },
  { header: 'id', value: (t) => t.id, wide: true, whole: true },
];

const view = (token: ApiToken & { token?: string }): Section[] => [
  {
    facts: [
      fact('Name', token.name),
      ...(token.token === undefined ? [] : [fact('Token', token.token)]),
      fact('Scopes', scopesOf(token)),
      fact('Expires', token.expiresAt === null ? 'never' : moment(token.expiresAt)),
      fact('Last used', token.lastUsedAt === null ? 'never' : moment(token.lastUsedAt)),
      fact('Created', moment(token.createdAt)),
      fact('Id', token.id),
    ],
  },
];

export class ApiTokenCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const token = nounCommand(program, context, apiTokenNoun, 'your own tokens for programs');
    addListOptions(token.command('list').description('list your API tokens')).action((options: ListOptions) =>
      context.printList((search) => context.list('/api-tokens', { query: search }), apiTokenColumns, options),
    );
    token
      .command('create')
      .description('create an API token; it is shown once')
      .argument('<name>')
      .option('--scope <permission...>', 'only these permissions, e.g. instance:read or volume:*')
      .option('--expires-in-days <days>', 'worthless after so many days')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl api-token create ci --scope instance:* task:read --expires-in-days 90',
      )
      .action(async (name: string, options: { scope?: string[]; expiresInDays?: string }) => {
        const expiresInDays =
          options.expiresInDays === undefined
            ? null
            : parseInteger(options.expiresInDays, '--expires-in-days', 1, 3650);
        const made = await context.request('post', '/api-tokens', {
          body: { name, scopes: options.scope ?? null, expiresInDays },
        });
        context.info('This is the only time that the token is shown.');
        context.show(made, view);
      });
    token
      .command('show')
      .description('show an API token, without its secret')
      .argument('<api-token>', 'name or id')
      .action(async (ref: string) => context.show(await context.get<ApiToken>('api-token', ref), view));
    addDelete(token, context, apiTokenNoun, { description: 'delete API tokens; they are refused at once' });
  }
}
