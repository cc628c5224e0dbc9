import type { CliContext } from '../../../core/cli/cli-context';
import { CliFailure } from '../../../core/cli/cli-failure';
import { plain } from '../../../core/cli/output/format';
import type { QueryOf } from '../../../rest/rest-call';
import type { Task } from '../contract/task.api';

const everyMs = 1_000;
/** Tasks whose last state is remembered. */
const remembered = 5_000;
const live = new Set<string>(['queued', 'running', 'compensating']);

const clock = (): string => new Date().toISOString().slice(11, 19);

const lineOf = (task: Task): string => {
  const at =
    task.endedAt === null
      ? `${Math.round(task.progress)} %${task.stepTitle === null ? '' : `  ${plain(task.stepTitle)}`}`
      : (task.error?.reason ?? '');
  return (
    `${clock()}  ${task.id}  ${plain(task.type)}  ${task.subject.kind} ${plain(task.subject.name)}  ${task.state}  ${plain(at)}`.trimEnd() +
    '\n'
  );
};

type Looker = Pick<CliContext, 'list' | 'request' | 'printText'>;

/**
 * One look at the list: prints what is new or has changed since the last one, oldest first; `quiet` only remembers it.
 */
export const lookAtTasks = async (
  context: Looker,
  query: QueryOf<'get', '/tasks'>,
  limit: number,
  seen: Map<string, { sign: string; live: boolean }>,
  quiet = false,
): Promise<void> => {
  const tasks = await context.list('/tasks', { query, limit });
  const listed = new Set(tasks.map((task) => task.id));
  // What a filter by state does not show any more has ended: its end is part of the story.
  for (const [id, { live: was }] of seen) {
    if (!was || listed.has(id)) continue;
    const task = await context.request('get', '/tasks/{id}', { path: { id } }).catch((error: unknown) => {
      if (error instanceof CliFailure && error.code === 'not_found') return undefined;
      throw error;
    });
    if (task) tasks.push(task);
    else seen.delete(id);
  }
  for (const task of tasks.reverse()) {
    const sign = `${task.state}/${task.progress}/${task.step ?? ''}`;
    if (seen.get(task.id)?.sign === sign) continue;
    seen.delete(task.id);
    seen.set(task.id, { sign, live: live.has(task.state) });
    if (!quiet) context.printText(task, () => lineOf(task));
  }
  for (const id of seen.keys()) {
    if (seen.size <= remembered) break;
    seen.delete(id);
  }
};

/**
 * Prints each change of the tasks that the query finds, until the command is ended: from now on, or with `past` also
 * what there is already.
 */
export const followTasks = async (
  context: CliContext,
  query: QueryOf<'get', '/tasks'>,
  limit: number,
  past: boolean,
): Promise<never> => {
  const seen = new Map<string, { sign: string; live: boolean }>();
  // What is there already is known, and not told again: only its further changes are.
  if (!past) await lookAtTasks(context, query, limit, seen, true);
  for (;;) {
    await lookAtTasks(context, query, limit, seen);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
};
