import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { formatTime } from '../../../core/cli/format';
import type { Member, Project } from '../contract/identity.api';

const pathOf = (ref: string): string => `/projects/${encodeURIComponent(ref)}`;

export class ProjectCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const project = program.command('project').description('projects and their members');
    project
      .command('list')
      .description('list the projects you can see')
      .action(async () => {
        context.print(await context.list<Project>('/projects'), [
          { header: 'name', value: (p) => p.name },
          { header: 'description', value: (p) => p.description },
          { header: 'created', value: (p) => formatTime(p.createdAt) },
          { header: 'id', value: (p) => p.id, wide: true },
        ]);
      });
    project
      .command('create')
      .description('create a project')
      .argument('<name>')
      .option('--description <text>')
      .addHelpText('after', '\nExamples:\n  vcctl project create web --description "The web team"')
      .action(async (name: string, options: { description?: string }) => {
        context.printOne(await context.request<Project>('POST', '/projects', { body: { name, ...options } }));
      });
    project
      .command('show')
      .description('show a project')
      .argument('<project>', 'name or id')
      .action(async (ref: string) => context.printOne(await context.request<Project>('GET', pathOf(ref))));
    project
      .command('delete')
      .description('delete empty projects')
      .argument('<project...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .action(async (refs: string[], options: { yes?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Delete ${refs.join(', ')}?`))) return;
        await context.each(refs, async (ref) => {
          await context.request('DELETE', pathOf(ref));
          context.info(`project ${ref} deleted`);
        });
      });

    const member = project.command('member').description('who may work in a project');
    member
      .command('list')
      .description('list the members of a project')
      .argument('<project>', 'name or id')
      .action(async (ref: string) => {
        context.print(await context.list<Member>(`${pathOf(ref)}/members`), [
          { header: 'user', value: (m) => m.userName },
          { header: 'role', value: (m) => m.role },
          { header: 'id', value: (m) => m.userId, wide: true },
        ]);
      });
    member
      .command('set')
      .description('add a member or change its role')
      .argument('<project>', 'name or id')
      .argument('<user>', 'name or id')
      .argument('<role>', 'project-admin, member or viewer')
      .addHelpText('after', '\nExamples:\n  vcctl project member set web anna member')
      .action(async (ref: string, user: string, role: string) => {
        context.printOne(await context.request<Member>('PUT', `${pathOf(ref)}/members/${encodeURIComponent(user)}`, { body: { role } }));
      });
    member
      .command('remove')
      .description('remove a member')
      .argument('<project>', 'name or id')
      .argument('<user>', 'name or id')
      .action(async (ref: string, user: string) => {
        await context.request('DELETE', `${pathOf(ref)}/members/${encodeURIComponent(user)}`);
        context.info(`${user} is no longer a member of ${ref}`);
      });
  }
}
