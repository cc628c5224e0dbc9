import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import { formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { projectNames } from '../../../core/cli/input/names-by-id';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Network } from '../contract/network.api';

const networkNoun: Noun = { name: 'network', plural: 'networks', path: '/networks', inProject: true };

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

const columns: CliColumn<Network>[] = [
  { header: 'name', value: (n) => n.name },
  { header: 'subnets', value: (n) => n.subnets.map(({ cidr }) => cidr).join(', ') },
  { header: 'router', value: (n) => n.router?.name ?? '' },
  { header: 'addresses', value: (n) => `${n.addresses.used}/${n.addresses.total}`, raw: (n) => n.addresses.used },
  { header: 'mtu', value: (n) => String(n.mtu), raw: (n) => n.mtu, wide: true },
  { header: 'created', value: (n) => formatTime(n.createdAt), raw: (n) => n.createdAt, wide: true },
  { header: 'id', value: (n) => n.id, wide: true, whole: true },
];

const view =
  (project?: string) =>
  (n: Network): Section[] => [
    {
      facts: [
        fact('Name', n.name),
        ...(n.description === '' ? [] : [fact('Description', n.description)]),
        fact('Addresses', `${n.addresses.used} of ${n.addresses.total} in use`),
        fact('Router', n.router === null ? 'none: guests reach each other only' : routerIn(n.router)),
        fact('MTU', String(n.mtu)),
        ...(project === undefined ? [] : [fact('Project', project)]),
        fact('Created', moment(n.createdAt)),
        fact('Id', n.id),
      ],
    },
    {
      title: 'Subnets',
      headers: ['name', 'cidr', 'gateway', 'addresses', 'dns'],
      rows: n.subnets.map((s) => [
        s.name,
        s.cidr,
        s.gateway,
        `${s.addresses.used}/${s.addresses.total}`,
        s.dns.join(', '),
      ]),
      none: 'none: instances get no address here yet',
    },
  ];

const routerIn = ({ name, snat }: NonNullable<Network['router']>): string =>
  `${name}, ${snat ? 'guests reach the outside' : 'guests reach its subnets only'}`;

export class NetworkCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const network = nounCommand(program, context, networkNoun, 'private networks of a project');
    addListOptions(network.command('list').description('list networks')).action((options: ListOptions) =>
      context.printList(
        (search) => context.list('/networks', { query: { ...search, project: context.project() } }),
        columns,
        options,
      ),
    );
    network
      .command('create')
      .description('create a network')
      .argument('<name>')
      .option('--subnet <cidr>', 'its first subnet: IPv4 from /8 to /29, e.g. 10.10.0.0/24')
      .option('--gateway <address>', 'the first usable address when missing')
      .option('--dns <address>', 'name server for its guests; may be repeated, at most 3', collect)
      .option(
        '--no-nat',
        'no way to the outside (with it, guests reach what lies behind the uplink, not the hosts nor their networks)',
      )
      .option('--description <text>')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl network create n1 --subnet 10.10.0.0/24\n  vcctl network create inner --subnet 10.20.0.0/24 --no-nat\n  vcctl subnet create inner-2 --network inner --cidr 10.20.1.0/24',
      )
      .action(
        async (
          name: string,
          options: { subnet?: string; gateway?: string; dns?: string[]; nat: boolean; description?: string },
        ) => {
          context.show(
            await context.request('post', '/networks', {
              query: { project: context.project() },
              // Without a subnet there is nothing that could have a way out.
              body: { name, ...options, nat: options.subnet === undefined ? undefined : options.nat },
            }),
            view(),
          );
        },
      );
    network
      .command('show')
      .description('show a network')
      .argument('<network>', 'name or id')
      .action(async (ref: string) => {
        const [found, projects] = await Promise.all([context.get<Network>('network', ref), projectNames(context)]);
        context.show(found, view(projects.get(found.projectId)));
      });
    addRename(network, context, networkNoun);
    addEdit(network, context, networkNoun, [
      { member: 'description', flags: '--description <text>', description: 'what it is for' },
    ]);
    addDelete(network, context, networkNoun, { description: 'delete networks that no instance uses', task: true });
  }
}
