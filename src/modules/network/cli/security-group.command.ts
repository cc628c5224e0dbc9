import type { Command } from 'commander';
import type { CliContext, CliRegistrar, Outcome } from '../../../core/cli/cli-context';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { projectNames } from '../../../core/cli/input/names-by-id';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import type { CliColumn, Tone } from '../../../core/cli/output/cli-column';
import { formatTime, moment } from '../../../core/cli/output/format';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { SecurityGroup, SecurityGroupRule, SecurityGroupWithRules } from '../contract/security-group.api';
import { addRuleOptions, ruleOf, type RuleOptions } from './security-group-rule-options';

const noun: Noun = { name: 'security-group', plural: 'security-groups', path: '/security-groups', inProject: true };

const toneOf = ({ status }: SecurityGroup): Tone => (status === 'active' ? 'good' : 'busy');

const columns: CliColumn<SecurityGroup>[] = [
  { header: 'name', value: (g) => g.name },
  { header: 'status', value: (g) => g.status, tone: toneOf },
  { header: 'rules', value: (g) => String(g.ruleCount), raw: (g) => g.ruleCount },
  { header: 'ports', value: (g) => String(g.portCount), raw: (g) => g.portCount },
  { header: 'description', value: (g) => g.description },
  { header: 'hosts', value: (g) => `${g.hosts.converged}/${g.hosts.concerned}`, wide: true },
  { header: 'created', value: (g) => formatTime(g.createdAt), raw: (g) => g.createdAt, wide: true },
  { header: 'id', value: (g) => g.id, wide: true, whole: true },
];

const portsOf = ({ portMin, portMax, icmpType, icmpCode }: SecurityGroupRule): string => {
  if (portMin !== null) return portMin === portMax ? String(portMin) : `${portMin}-${portMax}`;
  if (icmpType !== null) return icmpCode === null ? `type ${icmpType}` : `type ${icmpType}, code ${icmpCode}`;
  return 'all';
};

const ruleColumns: CliColumn<SecurityGroupRule>[] = [
  { header: 'direction', value: (r) => r.direction },
  { header: 'ethertype', value: (r) => r.ethertype },
  { header: 'protocol', value: (r) => r.protocol ?? 'any' },
  { header: 'ports', value: portsOf },
  {
    header: 'remote',
    value: (r) => r.remoteCidr ?? (r.remoteGroup === null ? 'anybody' : `group ${r.remoteGroup.name}`),
  },
  { header: 'description', value: (r) => r.description },
  { header: 'id', value: (r) => r.id, whole: true },
];

const view =
  (project?: string) =>
  (g: SecurityGroupWithRules): Section[] => [
    {
      facts: [
        fact('Name', g.name),
        ...(g.description === '' ? [] : [fact('Description', g.description)]),
        fact('Status', g.status, toneOf(g)),
        fact('Hosts', `${g.hosts.converged} of ${g.hosts.concerned} have reported its newest state`),
        fact('Ports', String(g.portCount)),
        ...(project === undefined ? [] : [fact('Project', project)]),
        fact('Created', moment(g.createdAt)),
        fact('Id', g.id),
      ],
    },
    {
      title: 'Rules',
      headers: ruleColumns.map(({ header }) => header),
      rows: g.rules.map((rule) => ruleColumns.map(({ value }) => value(rule))),
      none: 'none: nothing passes by this group',
    },
  ];

export class SecurityGroupCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const group = nounCommand(program, context, noun, 'what passes to and from ports');
    this.groups(group, context);
    this.rules(group.command('rule').alias('rules').description('rules of a security group'), context);
  }

  private groups(group: Command, context: CliContext): void {
    addListOptions(group.command('list').description('list security groups')).action((options: ListOptions) =>
      context.printList(
        (search) => context.list('/security-groups', { query: { ...search, project: context.project() } }),
        columns,
        options,
      ),
    );
    group
      .command('create')
      .description('create a security group, without rules')
      .argument('<name>')
      .option('--description <text>')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl security-group create web\n  vcctl security-group rule add web --protocol tcp --port 443',
      )
      .action(async (name: string, options: { description?: string }) => {
        const query = { project: context.project() };
        context.show(await context.request('post', '/security-groups', { query, body: { name, ...options } }), view());
      });
    group
      .command('show')
      .description('show a security group with its rules')
      .argument('<security-group>', 'name or id')
      .action(async (ref: string) => {
        const [found, projects] = await Promise.all([
          context.get<SecurityGroupWithRules>('security-group', ref),
          projectNames(context),
        ]);
        context.show(found, view(projects.get(found.projectId)));
      });
    addRename(group, context, noun);
    addEdit(group, context, noun, [
      { member: 'description', flags: '--description <text>', description: 'what it is for' },
    ]);
    addDelete(group, context, noun, { description: 'delete security groups that nothing uses' });
  }

  private rules(rule: Command, context: CliContext): void {
    rule
      .command('list')
      .description('list the rules of a security group')
      .argument('<security-group>', 'name or id')
      .action(async (ref: string) => {
        const found = await context.get<SecurityGroupWithRules>('security-group', ref);
        context.print(found.rules, ruleColumns);
      });
    addRuleOptions(rule.command('add'))
      .description('add a rule: what it allows passes, in both directions of the flow')
      .argument('<security-group>', 'name or id')
      .addHelpText(
        'after',
        `
Examples:
  vcctl security-group rule add web --protocol tcp --port 443
  vcctl security-group rule add web --protocol tcp --port 8000-8100 --remote 10.0.0.0/8
  vcctl security-group rule add db --protocol tcp --port 5432 --remote-group web
  vcctl security-group rule add web --protocol icmp --icmp-type 8
  vcctl security-group rule add web --egress --protocol udp --port 53`,
      )
      .action(async (ref: string, options: RuleOptions) => {
        const added = await context.request('post', '/security-groups/{ref}/rules', {
          path: { ref: await context.resolve('security-group', ref) },
          query: { project: context.project() },
          body: ruleOf(options),
        });
        context.print([added], ruleColumns);
      });
    rule
      .command('remove')
      .description('remove rules; flows that they alone allowed are cut')
      .argument('<rule...>', 'ids')
      .option('-y, --yes', 'do not ask; without a terminal it must be given')
      .addHelpText('after', '\nExamples:\n  vcctl security-group rule remove 0198b0f4-3333-7000-8000-000000000004')
      .action(async (ids: string[], options: { yes?: boolean }) => {
        if (!(await context.confirm(`Remove ${ids.join(', ')}?`, options.yes))) return;
        await context.each(ids, async (id): Promise<Outcome> => {
          await context.request('delete', '/security-group-rules/{id}', { path: { id } });
          return { text: `security group rule ${id} removed`, object: { id } };
        });
      });
  }
}
