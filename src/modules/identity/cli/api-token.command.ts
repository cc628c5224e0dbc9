import type { Command } from 'commander';
import type { CliColumn, CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { formatTime } from '../../../core/cli/format';
import { parseInteger } from '../../../core/cli/parse-size';
import type { ApiToken } from '../contract/identity.api';

export const apiTokenColumns: CliColumn<ApiToken>[] = [
  { header: 'name', value: (t) => t.name },
  { header: 'scopes', value: (t) => t.scopes?.join(', ') ?? 'all' },
  { header: 'expires', value: (t) => (t.expiresAt ? formatTime(t.expiresAt) : 'never') },
  { header: 'last used', value: (t) => (t.lastUsedAt ? formatTime(t.lastUsedAt) : 'never') },
  { header: 'created', value: (t) => formatTime(t.createdAt), wide: true },
  { header: 'id', value: (t) => t.id, wide: true },
];

export class ApiTokenCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const token = program.command('api-token').description('your own tokens for programs');
    token
      .command('list')
      .description('list your API tokens')
      .action(async () => {
        context.print(await context.list<ApiToken>('/api-tokens'), apiTokenColumns);
      });
    token
      .command('create')
      .description('create an API token; it is shown once')
      .argument('<name>')
      .option('--scope <permission...>', 'only these permissions, e.g. instance:read or volume:*')
      .option('--expires-in-days <days>', 'worthless after so many days')
      .addHelpText('after', '\nExamples:\n  vcctl api-token create ci --scope instance:* task:read --expires-in-days 90')
      .action(async (name: string, options: { scope?: string[]; expiresInDays?: string }) => {
        const expiresInDays = options.expiresInDays === undefined ? null : parseInteger(options.expiresInDays, '--expires-in-days', 1, 3650);
        context.printOne(await context.request<ApiToken & { token: string }>('POST', '/api-tokens', { body: { name, scopes: options.scope ?? null, expiresInDays } }));
      });
    token
      .command('delete')
      .description('delete API tokens; they are refused at once')
      .argument('<token...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .action(async (refs: string[], options: { yes?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Delete ${refs.join(', ')}?`))) return;
        await context.each(refs, async (ref) => {
          await context.request('DELETE', `/api-tokens/${encodeURIComponent(ref)}`);
          context.info(`API token ${ref} deleted`);
        });
      });
  }
}
