import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { projectNames } from '../../../core/cli/input/names-by-id';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { formatTime, moment } from '../../../core/cli/output/format';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Network } from '../contract/network.api';
import type { Subnet } from '../contract/subnet.api';

const subnetNoun: Noun = { name: 'subnet', plural: 'subnets', path: '/subnets', inProject: true };

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

const columns: CliColumn<Subnet>[] = [
  { header: 'name', value: (s) => s.name },
  { header: 'network', value: (s) => s.network },
  { header: 'cidr', value: (s) => s.cidr },
  { header: 'gateway', value: (s) => s.gateway },
  { header: 'router', value: (s) => s.router?.name ?? '' },
  { header: 'addresses', value: (s) => `${s.addresses.used}/${s.addresses.total}`, raw: (s) => s.addresses.used },
  { header: 'dns', value: (s) => s.dns.join(', '), wide: true },
  { header: 'created', value: (s) => formatTime(s.createdAt), raw: (s) => s.createdAt, wide: true },
  { header: 'id', value: (s) => s.id, wide: true, whole: true },
];

const view =
  (project?: string) =>
  (s: Subnet): Section[] => [
    {
      facts: [
        fact('Name', s.name),
        fact('Network', s.network),
        fact('Addresses', `${s.cidr}, ${s.addresses.used} of ${s.addresses.total} in use`),
        fact('Gateway', s.gateway),
        fact('DNS', s.dns.join(', ') || "the host's own where there is a way out"),
        fact('Router', s.router?.name ?? 'none'),
        ...(project === undefined ? [] : [fact('Project', project)]),
        fact('Created', moment(s.createdAt)),
        fact('Id', s.id),
      ],
    },
  ];

export class SubnetCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const subnet = nounCommand(program, context, subnetNoun, 'address ranges of a network');
    addListOptions(
      subnet.command('list').description('list subnets').option('--network <network>', 'only those of this one'),
    ).action(async (options: ListOptions & { network?: string }) => {
      const network =
        options.network === undefined ? undefined : (await context.get<Network>('network', options.network)).id;
      await context.printList(
        (search) => context.list('/subnets', { query: { ...search, project: context.project(), network } }),
        columns,
        options,
      );
    });
    subnet
      .command('create')
      .description('add a subnet to a network')
      .argument('<name>')
      .requiredOption('--network <network>', 'name or id')
      .requiredOption('--cidr <cidr>', 'IPv4 from /8 to /29; those of one network do not overlap')
      .option('--gateway <address>', 'the first usable address when missing')
      .option('--dns <address>', 'name server for its guests; may be repeated, at most 3', collect)
      .addHelpText('after', '\nExamples:\n  vcctl subnet create n1-b --network n1 --cidr 10.10.1.0/24')
      .action(async (name: string, options: { network: string; cidr: string; gateway?: string; dns?: string[] }) => {
        context.show(
          await context.request('post', '/subnets', {
            query: { project: context.project() },
            body: { name, ...options },
          }),
          view(),
        );
      });
    subnet
      .command('show')
      .description('show a subnet')
      .argument('<subnet>', 'name or id')
      .action(async (ref: string) => {
        const [found, projects] = await Promise.all([context.get<Subnet>('subnet', ref), projectNames(context)]);
        context.show(found, view(projects.get(found.projectId)));
      });
    addRename(subnet, context, subnetNoun);
    addEdit(subnet, context, subnetNoun, [
      {
        member: 'dns',
        flags: '--dns <address>',
        description: 'name server for its guests; may be repeated; replaces all',
        list: true,
      },
    ]);
    addDelete(subnet, context, subnetNoun, {
      description: 'delete subnets of which no instance has an address',
      task: true,
    });
  }
}
