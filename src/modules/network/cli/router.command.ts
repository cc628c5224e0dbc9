import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { projectNames } from '../../../core/cli/input/names-by-id';
import { parseYesNo } from '../../../core/cli/input/parse-yes-no';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { formatTime, moment } from '../../../core/cli/output/format';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Router } from '../contract/router.api';
import type { Subnet } from '../contract/subnet.api';

const routerNoun: Noun = { name: 'router', plural: 'routers', path: '/routers', inProject: true };

const columns: CliColumn<Router>[] = [
  { header: 'name', value: (r) => r.name },
  { header: 'subnets', value: (r) => r.subnets.map(({ cidr }) => cidr).join(', ') },
  { header: 'snat', value: (r) => (r.snat ? 'yes' : 'no') },
  { header: 'created', value: (r) => formatTime(r.createdAt), raw: (r) => r.createdAt, wide: true },
  { header: 'id', value: (r) => r.id, wide: true, whole: true },
];

const view =
  (project?: string) =>
  (r: Router): Section[] => [
    {
      facts: [
        fact('Name', r.name),
        ...(r.description === '' ? [] : [fact('Description', r.description)]),
        fact('Source NAT', r.snat ? 'yes, guests reach the outside' : 'no, guests reach its subnets only'),
        ...(project === undefined ? [] : [fact('Project', project)]),
        fact('Created', moment(r.createdAt)),
        fact('Id', r.id),
      ],
    },
    {
      title: 'Subnets',
      headers: ['name', 'cidr', 'network'],
      rows: r.subnets.map((s) => [s.name, s.cidr, s.network]),
      none: 'none',
    },
  ];

export class RouterCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const router = nounCommand(program, context, routerNoun, 'ways between subnets, and to the outside');
    addListOptions(router.command('list').description('list routers')).action((options: ListOptions) =>
      context.printList(
        (search) => context.list('/routers', { query: { ...search, project: context.project() } }),
        columns,
        options,
      ),
    );
    router
      .command('create')
      .description('create a router')
      .argument('<name>')
      .option('--no-snat', 'no way to the outside: its subnets reach each other only')
      .option('--description <text>')
      .addHelpText('after', '\nExamples:\n  vcctl router create r1\n  vcctl router add-subnet r1 n1-b')
      .action(async (name: string, options: { snat: boolean; description?: string }) => {
        context.show(
          await context.request('post', '/routers', {
            query: { project: context.project() },
            body: { name, ...options },
          }),
          view(),
        );
      });
    router
      .command('show')
      .description('show a router')
      .argument('<router>', 'name or id')
      .action(async (ref: string) => {
        const [found, projects] = await Promise.all([context.get<Router>('router', ref), projectNames(context)]);
        context.show(found, view(projects.get(found.projectId)));
      });
    this.subnets(router, context);
    addRename(router, context, routerNoun);
    addEdit(router, context, routerNoun, [
      { member: 'description', flags: '--description <text>', description: 'what it is for' },
      {
        member: 'snat',
        flags: '--snat <yes|no>',
        description: 'whether its subnets reach the outside',
        parse: parseYesNo,
      },
    ]);
    addDelete(router, context, routerNoun, { description: 'delete routers that no subnet is on', task: true });
  }

  private subnets(router: Command, context: CliContext): void {
    const change = (method: 'PUT' | 'DELETE') => async (ref: string, subnet: string) => {
      const on = await context.get<Subnet>('subnet', subnet);
      const path = `${await context.pathOf('router', ref)}/subnets/${on.id}`;
      context.show(await context.requestAt<Router>(method, path, { query: { project: context.project() } }), view());
    };
    router
      .command('add-subnet')
      .description('put a subnet on a router, by its gateway')
      .argument('<router>', 'name or id')
      .argument('<subnet>', 'name or id')
      .addHelpText('after', '\nExamples:\n  vcctl router add-subnet r1 n1-b')
      .action(change('PUT'));
    router
      .command('remove-subnet')
      .description('take a subnet off a router')
      .argument('<router>', 'name or id')
      .argument('<subnet>', 'name or id')
      .action(change('DELETE'));
  }
}
