import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn, Tone } from '../../../core/cli/output/cli-column';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { namesById } from '../../../core/cli/input/names-by-id';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Port } from '../contract/network.api';

const portNoun: Noun = {
  name: 'port',
  plural: 'ports',
  path: '/ports',
  inProject: true,
  nameless: true,
  listOnly: true,
};

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

type Names = ReadonlyMap<string, string>;

const toneOf = (port: Port): Tone => (port.state === 'active' ? 'good' : port.state === 'error' ? 'bad' : undefined);
const instanceOf = (port: Port, names: Names): string =>
  port.instanceId === null ? '' : (names.get(port.instanceId) ?? port.instanceId);

const groupsOf = (port: Port): string => port.securityGroups.map(({ name }) => name).join(', ') || 'none';

const columns = (names: Names): CliColumn<Port>[] => [
  { header: 'address', value: (p) => p.address },
  { header: 'mac', value: (p) => p.mac },
  { header: 'network', value: (p) => p.network },
  { header: 'state', value: (p) => p.state, tone: toneOf },
  { header: 'instance', value: (p) => instanceOf(p, names) },
  { header: 'security groups', value: groupsOf },
  { header: 'message', value: (p) => p.message, wide: true },
  { header: 'id', value: (p) => p.id, wide: true, whole: true },
];

const view =
  (names: Names) =>
  (p: Port): Section[] => [
    {
      facts: [
        fact('Address', p.address),
        fact('MAC', p.mac),
        fact('Network', p.network),
        fact('Instance', instanceOf(p, names)),
        fact('Security groups', groupsOf(p)),
        fact('State', p.message === '' ? p.state : `${p.state}: ${p.message}`, toneOf(p)),
        fact('Id', p.id),
      ],
    },
  ];

export class PortCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const port = nounCommand(program, context, portNoun, 'where instances join networks');
    addListOptions(port.command('list').description('list ports')).action(async (options: ListOptions) => {
      const names = await namesById(context, 'instance');
      await context.printList(
        (search) => context.list('/ports', { query: { ...search, project: context.project() } }),
        columns(names),
        options,
      );
    });
    port
      .command('show')
      .description('show a port')
      .argument('<port>', 'id')
      .action(async (ref: string) => {
        const [found, names] = await Promise.all([context.get<Port>('port', ref), namesById(context, 'instance')]);
        context.show(found, view(names));
      });
    port
      .command('update')
      .description('put a port into security groups')
      .argument('<port>', 'id')
      .requiredOption(
        '--security-group <security-group>',
        'name or id; may be repeated; replaces all; "" for none',
        collect,
      )
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl port update 0198b0f4-3333-7000-8000-000000000004 --security-group default --security-group web',
      )
      .action(async (ref: string, options: { securityGroup: string[] }) => {
        const changed = await context.request('patch', '/ports/{id}', {
          path: { id: (await context.get<Port>('port', ref)).id },
          body: { securityGroups: options.securityGroup.filter((group) => group !== '') },
        });
        context.show(changed, view(await namesById(context, 'instance')));
      });
  }
}
