import { Option, type Command } from 'commander';
import { choice } from '../../../core/cli/input/choice';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { usageFailure } from '../../../core/cli/cli-failure';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { parseInteger } from '../../../core/cli/input/parse-size';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { InventoryTable } from '../../../core/m2m/reports/inventory-table';
import type { Host, HostDetail, HostTokenInfo } from '../contract/host.api';
import { registerHostLeftovers } from './host-leftovers';
import { hostColumns, hostStateNames, hostView } from './host-view';

interface HostToken {
  id: string;
  token: string;
  expiresAt: string;
  command: string;
}

const hostNoun: Noun = { name: 'host', plural: 'hosts', path: '/hosts', inProject: false };
const tokenNoun: Noun = {
  name: 'host-token',
  plural: 'host-tokens',
  path: '/host-tokens',
  inProject: false,
  nameless: true,
  listOnly: true,
};

const tokenView = (token: HostToken): Section[] => [
  { facts: [fact('Token', token.token), fact('Expires', moment(token.expiresAt)), fact('Id', token.id)] },
  { title: 'On the new host, as root', facts: [fact('Run', token.command)] },
];

const tokenColumns = (hosts: ReadonlyMap<string, string>): CliColumn<HostTokenInfo>[] => [
  { header: 'id', value: (t) => t.id, whole: true },
  { header: 'state', value: (t) => t.state },
  { header: 'host', value: (t) => (t.hostId === null ? '' : (hosts.get(t.hostId) ?? t.hostId)) },
  { header: 'made by', value: (t) => t.createdBy },
  { header: 'expires', value: (t) => formatTime(t.expiresAt), raw: (t) => t.expiresAt },
  { header: 'used', value: (t) => formatTime(t.usedAt), raw: (t) => t.usedAt },
];

export class HostCommands implements CliRegistrar {
  /** @param inventory the parts that modules have in it */
  constructor(private readonly inventory: () => Promise<InventoryTable>) {}

  register(program: Command, context: CliContext): void {
    const host = nounCommand(program, context, hostNoun, 'hypervisor hosts (admins only)');
    addListOptions(host.command('list').description('list hosts'))
      .addOption(choice(new Option('--state <state>', 'only those in this state'), hostStateNames))
      .action((options: ListOptions & { state?: Host['state'] }) =>
        context.printList(
          (search) => context.list('/hosts', { query: { ...search, state: options.state } }),
          hostColumns,
          options,
        ),
      );
    host
      .command('show')
      .description('show a host with its capacity, conditions and inventory')
      .argument('<host>', 'name or id')
      .action(async (ref: string) => {
        const [found, parts] = await Promise.all([context.get<HostDetail>('host', ref), this.inventory()]);
        context.show(found, (shown) => hostView(shown, parts));
      });
    host
      .command('update')
      .description('take a host out of scheduling, or back in')
      .argument('<host...>', 'names or ids')
      .option('--maintenance', 'no new instances are placed on it')
      .option('--no-maintenance', 'back to work')
      .option('--reason <text>', 'shown to other operators')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl host update h1 --maintenance --reason "new memory"\n  vcctl host update h1 --no-maintenance',
      )
      .action((refs: string[], options: { maintenance?: boolean; reason?: string }) => {
        if (options.maintenance === undefined && options.reason === undefined)
          throw usageFailure('name --maintenance or --no-maintenance');
        return context.each(refs, async (ref) => {
          const updated = await context.request('patch', '/hosts/{ref}', {
            path: { ref: await context.resolve('host', ref) },
            body: options,
          });
          return { text: `host ${updated.name} is ${updated.state}`, object: updated };
        });
      });
    host
      .command('test')
      .description('try the virtual machine monitors of hosts anew, also those that failed')
      .argument('<host...>', 'names or ids')
      .option('-w, --wait', 'return when it is known what works')
      .addHelpText('after', '\nExamples:\n  vcctl host test h1 --wait')
      .action((refs: string[], options: { wait?: boolean }) =>
        context.each(refs, async (ref) => {
          const task = await context.request('post', '/hosts/{ref}/actions/test', {
            path: { ref: await context.resolve('host', ref) },
          });
          if (options.wait) await context.follow(task.taskId);
          return { text: `host ${ref} ${options.wait ? 'was tested' : 'is being tested'}`, object: task };
        }),
      );
    registerHostLeftovers(host, context);
    addDelete(host, context, hostNoun, { description: 'remove hosts that hold no instance', question: 'Remove %?' });
    this.registerTokens(host, context);
  }

  private registerTokens(host: Command, context: CliContext): void {
    context.addNoun(tokenNoun);
    const token = host.command('token').alias('tokens').description('one-time tokens that let new hosts join');
    addListOptions(token.command('list').description('list tokens, used ones too; never their secrets')).action(
      async (options: ListOptions) => {
        const hosts = new Map((await context.list('/hosts')).map((h) => [h.id, h.name]));
        await context.printList(
          (search) => context.list('/host-tokens', { query: search }),
          tokenColumns(hosts),
          options,
        );
      },
    );
    token
      .command('create')
      .description('make a one-time token and show the command for the new host')
      .option('--expires-in-minutes <minutes>', 'worthless after so long', '30')
      .addHelpText('after', '\nExamples:\n  vcctl host token create')
      .action(async (options: { expiresInMinutes: string }) => {
        const body = { expiresInMinutes: parseInteger(options.expiresInMinutes, '--expires-in-minutes', 1, 1440) };
        context.show(await context.request('post', '/host-tokens', { body }), tokenView);
      });
    addDelete(token, context, tokenNoun, {
      description: 'withdraw tokens that were not used yet',
      question: 'Withdraw %?',
    });
  }
}
