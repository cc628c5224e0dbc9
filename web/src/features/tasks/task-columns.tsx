import { duration } from '../../lib/format';
import { useNow } from '../../lib/queries';
import type { Task } from '../../lib/types';
import type { Column } from '../../ui/lists/list-page';
import { Progress } from '../../ui/feedback/meter';
import { StateBadge } from '../../ui/feedback/state';
import { Cut } from '../../ui/lists/table';
import { Age } from '../../ui/time';
import { useActorName } from './use-actor-name';
import { isLive, taskVerb } from './task-words';

const elapsed = (task: Task, now: number): string =>
  task.startedAt === null
    ? '–'
    : duration((task.endedAt === null ? now : Date.parse(task.endedAt)) - Date.parse(task.startedAt));

/** How far it is and at which step; once it is over, how long it took. */
function Way({ task, now }: { task: Task; now: number }) {
  if (task.state !== 'running' && task.state !== 'compensating')
    return <span className="text-dim">{elapsed(task, now)}</span>;
  return (
    <div
      className="w-40"
      title={`${Math.round(task.progress)} %${task.stepTitle === null ? '' : ` · ${task.stepTitle}`}`}
    >
      <Progress value={task.progress} label="Progress" />
      <span className="nums mt-1 flex gap-2 text-xs text-dim">
        <span className="min-w-0 flex-1 truncate">{task.stepTitle ?? ''}</span>
        <span className="shrink-0">{elapsed(task, now)}</span>
      </span>
    </div>
  );
}

/** The columns of a list of tasks. `open` shows one. */
export const useTaskColumns = (
  tasks: readonly Task[],
  open: (id: string) => void,
  hideSubject = false,
): Column<Task>[] => {
  const nameOf = useActorName(tasks.map((task) => task.createdBy));
  const now = useNow(tasks.some((t) => isLive(t.state)) ? 1000 : 60_000);
  const columns: Column<Task>[] = [
    {
      head: 'Task',
      name: true,
      cell: (task) => (
        <>
          <button
            type="button"
            className="block max-w-full truncate rounded text-left font-medium hover:underline"
            onClick={(event) => (event.stopPropagation(), open(task.id))}
          >
            {taskVerb(task)}
          </button>
          {!hideSubject && <span className="block truncate text-xs text-dim @md:hidden">{task.subject.name}</span>}
          {task.error !== null && (
            <Cut
              text={`${task.error.host === null ? '' : `${task.error.host}: `}${task.error.reason}`}
              className="text-xs text-bad"
            />
          )}
        </>
      ),
    },
    { head: 'Subject', from: 'sm', className: 'max-w-60', cell: (task) => <Cut text={task.subject.name} /> },
    { head: 'State', cell: (task) => <StateBadge state={task.state} kind="task" /> },
    { head: 'Progress', from: 'md', cell: (task) => <Way task={task} now={now} /> },
    { head: 'By', from: 'lg', className: 'max-w-40 text-dim', cell: (task) => <Cut text={nameOf(task.createdBy)} /> },
    { head: 'Started', from: 'sm', className: 'text-dim', cell: (task) => <Age at={task.createdAt} suffix=" ago" /> },
  ];
  return hideSubject ? columns.filter((column) => column.head !== 'Subject') : columns;
};
