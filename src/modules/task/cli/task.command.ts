import type { Command } from 'commander';
import type { CliContext, CliRegistrar, Outcome } from '../../../core/cli/cli-context';
import type { CliColumn, Tone } from '../../../core/cli/output/cli-column';
import { CliFailure, exitCodes } from '../../../core/cli/cli-failure';
import { formatTime } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { parseInteger } from '../../../core/cli/input/parse-size';
import type { OperatorVerb, Task, TaskDetail } from '../contract/task.api';
import { followTasks } from './follow-tasks';
import { addFilters, filterQuery, type FilterOptions } from './task-filters';
import { taskView, took } from './task-view';

const taskNoun: Noun = { name: 'task', plural: 'tasks', path: '/tasks', inProject: false, nameless: true };
const settled = new Set<string>(['succeeded', 'failed', 'cancelled', 'stuck']);
const longestWaitMs = 30 * 60_000;

const tones: Record<Task['state'], Tone> = {
  queued: 'busy',
  running: 'busy',
  compensating: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: undefined,
  stuck: 'bad',
};

const columns: CliColumn<Task>[] = [
  { header: 'id', value: (t) => t.id, whole: true },
  { header: 'type', value: (t) => t.type },
  { header: 'subject', value: (t) => `${t.subject.kind} ${t.subject.name}` },
  { header: 'state', value: (t) => t.state, tone: (t) => tones[t.state] },
  { header: 'progress', value: (t) => `${Math.round(t.progress)} %`, raw: (t) => t.progress },
  { header: 'step', value: (t) => t.stepTitle ?? '-', wide: true },
  { header: 'host', value: (t) => t.error?.host ?? '-', wide: true },
  { header: 'error', value: (t) => t.error?.reason ?? '-', wide: true },
  { header: 'created', value: (t) => formatTime(t.createdAt), raw: (t) => t.createdAt },
  { header: 'took', value: took, raw: (t) => t.durationMs },
];

interface ActOptions {
  wait?: boolean;
  yes?: boolean;
  reason?: string;
}

/** `vcctl task ...`. */
export class TaskCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const task = nounCommand(program, context, taskNoun, 'operations under way and past');
    this.registerReads(task, context);
    task
      .command('cancel')
      .description('stop tasks at their next boundary and undo what they did')
      .argument('<task...>', 'ids')
      .option('--reason <text>', 'kept with the task')
      .option('-w, --wait', 'until they have ended')
      .action((ids: string[], options: ActOptions) => this.act(context, ids, 'cancel', options));
    this.operator(task, context, 'retry', 'undo stuck tasks once more (admins only)');
    this.operator(
      task,
      context,
      'skip-step',
      'count the undo that stuck tasks are at as done, and go on (admins only)',
      'Skip the step? What it made may stay behind.',
    );
    this.operator(
      task,
      context,
      'abandon',
      'end stuck tasks as failed without undoing the rest (admins only)',
      'Abandon? What the task made may stay behind.',
    );
  }

  private registerReads(task: Command, context: CliContext): void {
    addFilters(addListOptions(task.command('list').description('list tasks, newest first')))
      .option('--limit <count>', 'at most so many', '50')
      .option('-f, --follow', 'print each change from now on, until interrupted; with --since also what was before')
      .addHelpText(
        'after',
        '\nExamples:\n  vcctl task list --state live\n  vcctl task list --type compute. --errors --since 2h -o wide\n  vcctl task list --host h1 --no-system --follow',
      )
      .action(async (options: FilterOptions & ListOptions & { limit: string; follow?: boolean }) => {
        const limit = parseInteger(options.limit, '--limit', 1);
        const host = options.host === undefined ? {} : { host: await context.resolve('host', options.host) };
        const parent = options.parent === undefined ? {} : { parent: await context.resolve('task', options.parent) };
        const query = filterQuery({ ...options, ...host, ...parent }, context.project());
        if (options.follow) return followTasks(context, query, Math.min(limit, 500), options.since !== undefined);
        await context.printList(
          (search) => context.list('/tasks', { query: { ...query, ...search }, limit }),
          columns,
          options,
        );
      });
    task
      .command('show')
      .description('show a task with its steps, what failed and why, what was undone, and who interfered')
      .argument('<task>', 'id')
      .option('-f, --follow', 'then follow it to its end')
      .action(async (ref: string, options: { follow?: boolean }) => {
        const shown = await context.get<TaskDetail>('task', ref);
        if (options.follow && !settled.has(shown.state)) await context.follow(shown.id);
        const last = options.follow ? await context.request('get', '/tasks/{id}', { path: { id: shown.id } }) : shown;
        context.printText(last, () => taskView(last));
      });
    task
      .command('watch')
      .description('follow a task to its end, each step live; exits with 1 when it does not succeed')
      .argument('<task>', 'id')
      .action(async (ref: string) => {
        const id = await context.resolve('task', ref);
        await context.follow(id);
        const task = await context.request('get', '/tasks/{id}', { path: { id } });
        context.report({ text: `task ${id} ${task.state}`, object: task });
      });
  }

  private operator(
    task: Command,
    context: CliContext,
    verb: OperatorVerb,
    description: string,
    question?: string,
  ): void {
    const command = task
      .command(verb)
      .description(description)
      .argument('<task...>', 'ids')
      .option('--reason <text>', 'kept with the task')
      .option('-w, --wait', 'until they have ended');
    if (question !== undefined) command.option('-y, --yes', 'do not ask; without a terminal it must be given');
    command.action(async (ids: string[], options: ActOptions) => {
      if (question !== undefined && !(await context.confirm(question, options.yes))) return;
      await this.act(context, ids, verb, options);
    });
  }

  private act(context: CliContext, refs: string[], verb: OperatorVerb | 'cancel', options: ActOptions): Promise<void> {
    return context.each(refs, async (ref): Promise<Outcome> => {
      const id = await context.resolve('task', ref);
      const asked = await context.request('post', `/tasks/{id}/actions/${verb}`, {
        path: { id },
        body: options.reason === undefined ? {} : { reason: options.reason },
      });
      if (!options.wait)
        return {
          text: verb === 'cancel' ? `task ${id}: cancel requested` : `task ${id}: ${asked.state}`,
          object: asked,
        };
      const task = await this.untilSettled(context, id);
      if (task.state === 'stuck') {
        throw new CliFailure(task.error?.message ?? 'The task is stuck.', {
          exitCode: exitCodes.failed,
          code: task.error?.code ?? 'stuck',
          ...(task.requestId !== null && { requestId: task.requestId }),
        });
      }
      return { text: `task ${id}: ${task.state}`, object: task };
    });
  }

  private async untilSettled(context: CliContext, id: string): Promise<TaskDetail> {
    const end = Date.now() + longestWaitMs;
    for (;;) {
      const task = await context.request('get', '/tasks/{id}', { path: { id }, query: { wait: '30s' } });
      if (settled.has(task.state)) return task;
      if (Date.now() > end)
        throw new CliFailure(`The task is ${task.state} still.`, {
          exitCode: exitCodes.failed,
          code: 'still_running',
          hint: `Go on: vcctl task watch ${id}`,
        });
    }
  }
}
