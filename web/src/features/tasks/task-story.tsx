import { CornerUpLeft, Hourglass } from 'lucide-react';
import { errorSentences } from '../../../../src/modules/task/contract/task-error';
import { dateTime, words } from '../../lib/format';
import type { RelatedTask, TaskDetail } from '../../lib/types';
import { cx } from '../../ui/cx';
import { Progress } from '../../ui/feedback/meter';
import { StateBadge } from '../../ui/feedback/state';
import { openTask } from './open-task';
import { isLive, taskTitle } from './task-words';

/** Why it failed, in the server's sentences: what, where, what was undone and what was not, and what to do. */
export function Cause({ task }: { task: TaskDetail }) {
  const { error } = task;
  if (error === null) return null;
  const { what, undone, left, next } = errorSentences({ ...error, state: task.state });
  const calm = task.state === 'cancelled';
  return (
    <div
      role="alert"
      className={cx(
        'mb-5 rounded-lg border px-3 py-2.5 text-sm break-words',
        calm ? 'border-line bg-sunken' : 'border-bad/25 bg-bad-soft',
      )}
    >
      <p className={cx('font-medium', !calm && 'text-bad')}>{what}</p>
      {undone !== null && <p className="mt-1.5 text-xs">{undone}</p>}
      {left !== null && <p className="mt-1.5 text-xs font-medium">{left}</p>}
      {next !== null && <p className="mt-1.5 text-xs">{next}</p>}
      {!calm && <p className="mt-1.5 font-mono text-xs text-dim">{error.code}</p>}
    </div>
  );
}

/** Why nothing happens at the moment, with the seconds until it does. */
export function Waiting({ waiting, now }: { waiting: NonNullable<TaskDetail['waiting']>; now: number }) {
  const seconds = waiting.until === null ? null : Math.max(0, Math.ceil((Date.parse(waiting.until) - now) / 1000));
  const text =
    seconds !== null && waiting.kind === 'retry'
      ? waiting.text.replace('another try:', `another try in ${seconds} s:`)
      : waiting.text;
  return (
    <p
      className={cx(
        'mb-4 flex gap-2 rounded-lg px-3 py-2 text-xs break-words',
        waiting.kind === 'retry' ? 'bg-warn-soft text-warn' : 'bg-sunken text-dim',
      )}
    >
      <Hourglass aria-hidden className="mt-0.5 size-3.5 shrink-0" />
      <span className="nums min-w-0">
        {text.charAt(0).toUpperCase()}
        {text.slice(1)}
      </span>
    </p>
  );
}

function Related({ task }: { task: RelatedTask }) {
  return (
    <button
      type="button"
      onClick={() => openTask(task.id)}
      className="-mx-2 flex w-[calc(100%+1rem)] items-center gap-3 rounded-md px-2 py-1.5 text-left text-sm hover:bg-sunken"
    >
      <span className="min-w-0 flex-1">
        <span className="block truncate">{taskTitle(task)}</span>
        {task.error !== null && <span className="block truncate text-xs text-bad">{task.error}</span>}
        {isLive(task.state) && (
          <span className="mt-1 block">
            <Progress value={task.progress} label={taskTitle(task)} />
          </span>
        )}
      </span>
      <StateBadge state={task.state} kind="task" />
    </button>
  );
}

/** The task that this one is part of, and the ones that it started. */
export function Relatives({ task }: { task: TaskDetail }) {
  return (
    <>
      {task.parent !== null && (
        <section className="mb-4">
          <h3 className="mb-1 flex items-center gap-1.5 text-xs font-medium text-dim">
            <CornerUpLeft aria-hidden className="size-3" />
            Part of
          </h3>
          <Related task={task.parent} />
        </section>
      )}
      {task.childTasks.length > 0 && (
        <section className="mt-4">
          <h3 className="mb-1 text-xs font-medium text-dim">
            Child tasks · {task.children}
            {task.children > task.childTasks.length && `, the first ${task.childTasks.length} shown`}
          </h3>
          {task.childTasks.map((child) => (
            <Related key={child.id} task={child} />
          ))}
        </section>
      )}
    </>
  );
}

/** Who interfered, when and why. */
export function Interventions({ task }: { task: TaskDetail }) {
  if (task.audit.length === 0) return null;
  return (
    <section className="mt-5 border-t border-line pt-4">
      <h3 className="mb-1.5 text-xs font-medium text-dim">Interventions</h3>
      <ol className="space-y-2 text-xs">
        {task.audit.map((entry, n) => (
          <li key={n}>
            <span className="font-medium">{words(entry.verb)}</span>
            {entry.step !== null &&
              ` at ${task.steps.find((step) => step.name === entry.step)?.title ?? words(entry.step)}`}{' '}
            by {entry.by?.name ?? 'an administrator'}
            <time dateTime={entry.at} className="block text-dim">
              {dateTime(entry.at)}
            </time>
            {entry.reason !== null && <span className="block break-words">{entry.reason}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}
