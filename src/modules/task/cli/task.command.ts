import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { formatDuration, formatTime } from '../../../core/cli/format';
import type { Task, TaskDetail } from '../contract/task.api';

const pathOf = (id: string): string => `/tasks/${encodeURIComponent(id)}`;

const took = (task: Task): string => {
  if (!task.startedAt) return '-';
  const end = task.endedAt ? Date.parse(task.endedAt) : Date.now();
  return formatDuration(Math.max(0, (end - Date.parse(task.startedAt)) / 1000));
};

/** `vcctl task ...`. */
export class TaskCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const task = program.command('task').description('operations under way and past');
    task
      .command('list')
      .description('list tasks, newest first')
      .option('--state <state>', 'queued, running, compensating, succeeded, failed, cancelled, stuck, or live')
      .option('--type <type>', 'e.g. compute.create-instance')
      .option('--subject <id>', 'of one object')
      .option('--limit <count>', 'at most so many', '50')
      .addHelpText('after', '\nExamples:\n  vcctl task list --state live\n  vcctl task list --type compute.create-instance -o wide')
      .action(async (options: { state?: string; type?: string; subject?: string; limit: string }) => {
        const query = { state: options.state, type: options.type, subject: options.subject, project: context.project() };
        context.print(await context.list<Task>('/tasks', query, Number(options.limit) || 50), [
          { header: 'id', value: (t) => t.id },
          { header: 'type', value: (t) => t.type },
          { header: 'subject', value: (t) => `${t.subject.kind} ${t.subject.name}` },
          { header: 'state', value: (t) => t.state },
          { header: 'progress', value: (t) => `${Math.round(t.progress)} %` },
          { header: 'step', value: (t) => t.step ?? '-', wide: true },
          { header: 'error', value: (t) => t.error?.message ?? '-', wide: true },
          { header: 'created', value: (t) => formatTime(t.createdAt) },
          { header: 'took', value: took },
        ]);
      });
    task
      .command('show')
      .description('show a task with its steps')
      .argument('<task>', 'id')
      .action(async (id: string) => context.printOne(await context.request<TaskDetail>('GET', pathOf(id))));
    task
      .command('watch')
      .description('follow a task to its end; exits with 1 when it does not succeed')
      .argument('<task>', 'id')
      .action((id: string) => context.follow(id));
    task
      .command('cancel')
      .description('stop tasks at their next boundary and undo what they did')
      .argument('<task...>', 'ids')
      .option('-w, --wait', 'until they have ended')
      .action((ids: string[], options: { wait?: boolean }) =>
        context.each(ids, async (id) => {
          await context.request('POST', `${pathOf(id)}/actions/cancel`);
          if (!options.wait) return context.info(`task ${id}: cancel requested`);
          const end = Date.now() + 10 * 60_000;
          let state = 'running';
          while (!['succeeded', 'failed', 'cancelled', 'stuck'].includes(state) && Date.now() < end) {
            ({ state } = await context.request<TaskDetail>('GET', pathOf(id), { query: { wait: '30s' } }));
          }
          context.info(`task ${id}: ${state}`);
        }),
      );
    this.operator(task, context, 'retry', 'undo stuck tasks once more (admins only)');
    this.operator(task, context, 'skip-step', 'count the undo that stuck tasks are at as done, and go on (admins only)', 'Skip the step? What it made may stay behind.');
    this.operator(task, context, 'abandon', 'end stuck tasks as failed without undoing the rest (admins only)', 'Abandon? What the task made may stay behind.');
  }

  private operator(task: Command, context: CliContext, verb: string, description: string, question?: string): void {
    const command = task.command(verb).description(description).argument('<task...>', 'ids');
    if (question !== undefined) command.option('-y, --yes', 'do not ask');
    command.action(async (ids: string[], options: { yes?: boolean }) => {
      if (question !== undefined && !options.yes && !(await context.confirm(question))) return;
      await context.each(ids, async (id) => {
        const { state } = await context.request<TaskDetail>('POST', `${pathOf(id)}/actions/${verb}`);
        context.info(`task ${id}: ${state}`);
      });
    });
  }
}
