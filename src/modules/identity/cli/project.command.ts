import { Argument, type Command } from 'commander';
import { choice } from '../../../core/cli/input/choice';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addEdit, addRename } from '../../../core/cli/commands/edit-command';
import { formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { Member, Project } from '../contract/identity.api';

const projectNoun: Noun = { name: 'project', plural: 'projects', path: '/projects', inProject: false };
/** As the contract has them. */
const roles: readonly Member['role'][] = ['project-admin', 'member', 'viewer'];

const columns: CliColumn<Project>[] = [
  { header: 'name', value: (p) => p.name },
  { header: 'description', value: (p) => p.description },
  { header: 'created', value: (p) => formatTime(p.createdAt), raw: (p) => p.createdAt },
  { header: 'id', value: (p) => p.id, wide: true, whole: true },
];
const memberColumns: CliColumn<Member>[] = [
  { header: 'user', value: (m) => m.userName },
  { header: 'role', value: (m) => m.role },
  { header: 'id', value: (m) => m.userId, wide: true, whole: true },
];

const view = (p: Project): Section[] => [
  {
    facts: [
      fact('Name', p.name),
      ...(p.description === '' ? [] : [fact('Description', p.description)]),
      fact('Created', moment(p.createdAt)),
      fact('Id', p.id),
    ],
  },
];
const memberView = (m: Member): Section[] => [
  { facts: [fact('User', m.userName), fact('Role', m.role), fact('Id', m.userId)] },
];

export class ProjectCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const project = nounCommand(program, context, projectNoun, 'projects and their members');
    addListOptions(project.command('list').description('list the projects you can see')).action(
      (options: ListOptions) =>
        context.printList((search) => context.list('/projects', { query: search }), columns, options),
    );
    project
      .command('create')
      .description('create a project')
      .argument('<name>')
      .option('--description <text>')
      .addHelpText('after', '\nExamples:\n  vcctl project create web --description "The web team"')
      .action(async (name: string, options: { description?: string }) =>
        context.show(await context.request('post', '/projects', { body: { name, ...options } }), view),
      );
    project
      .command('show')
      .description('show a project')
      .argument('<project>', 'name or id')
      .action(async (ref: string) => context.show(await context.get<Project>('project', ref), view));
    addRename(project, context, projectNoun);
    addEdit(project, context, projectNoun, [
      { member: 'description', flags: '--description <text>', description: 'what it is for' },
    ]);
    addDelete(project, context, projectNoun, { description: 'delete empty projects' });
    this.registerMembers(project, context);
  }

  private registerMembers(project: Command, context: CliContext): void {
    const memberOf = async (ref: string, user: string): Promise<{ ref: string; userId: string }> => ({
      ref: await context.resolve('project', ref),
      userId: await context.resolve('user', user),
    });
    const member = project.command('member').alias('members').description('who may work in a project');
    addListOptions(
      member.command('list').description('list the members of a project').argument('<project>', 'name or id'),
    ).action(async (ref: string, options: ListOptions) => {
      const path = { ref: await context.resolve('project', ref) };
      await context.printList(
        (search) => context.list('/projects/{ref}/members', { path, query: search }),
        memberColumns,
        options,
      );
    });
    member
      .command('set')
      .description('add a member or change its role')
      .argument('<project>', 'name or id')
      .argument('<user>', 'name or id')
      .addArgument(choice(new Argument('<role>', roles.join(', ')), roles))
      .addHelpText('after', '\nExamples:\n  vcctl project member set web anna member')
      .action(async (ref: string, user: string, role: Member['role']) =>
        context.show(
          await context.request('put', '/projects/{ref}/members/{userId}', {
            path: await memberOf(ref, user),
            body: { role },
          }),
          memberView,
        ),
      );
    member
      .command('remove')
      .description('remove a member')
      .argument('<project>', 'name or id')
      .argument('<user>', 'name or id')
      .option('-y, --yes', 'do not ask; without a terminal it must be given')
      .action(async (ref: string, user: string, options: { yes?: boolean }) => {
        if (!(await context.confirm(`Remove ${user} from ${ref}?`, options.yes))) return;
        await context.request('delete', '/projects/{ref}/members/{userId}', { path: await memberOf(ref, user) });
        context.report({
          text: `${user} is no longer a member of ${ref}`,
          object: { noun: 'member', name: user, project: ref, result: 'removed' },
        });
      });
  }
}
