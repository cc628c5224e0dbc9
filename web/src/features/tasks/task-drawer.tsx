import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';
import { useVisited } from '../../app/palette/use-visited';
import { api } from '../../lib/api';
import { dateTime, duration } from '../../lib/format';
import { asApiError } from '../../lib/problem';
import { useNow, useOne, useWrite } from '../../lib/queries';
import { useStore } from '../../lib/store';
import type { TaskDetail } from '../../lib/types';
import { Button, ButtonLink } from '../../ui/button';
import { Copyable, CopyButton } from '../../ui/copy';
import { Progress } from '../../ui/feedback/meter';
import { ProblemNote } from '../../ui/feedback/problem-note';
import { StateBadge } from '../../ui/feedback/state';
import { Skeleton } from '../../ui/lists/table';
import { toast } from '../../ui/feedback/toast';
import { useScope } from '../../app/scope';
import { draftOf } from '../instances/create/drafts';
import { closeTask, openedTask } from './open-task';
import { useActorName } from './use-actor-name';
import { OperatorActions } from './operator-actions';
import { Cause, Interventions, Relatives, Waiting } from './task-story';
import { TaskSteps } from './task-steps';
import { isLive, subjectPath, taskTitle, taskVerb } from './task-words';

/** How long a finished task stays visible before its drawer closes itself. Milliseconds. */
const lingerMs = 1400;

/** The panel at the side that shows one task at work. It blocks nothing: the page beside it stays usable. */
export function TaskDrawer() {
  const opened = useStore(openedTask);
  if (opened === null) return null;
  return <Panel key={opened.id} id={opened.id} auto={opened.auto} />;
}

function Panel({ id, auto }: { id: string; auto: boolean }) {
  const result = useOne('/tasks/{id}', id, { everyMs: 1500 });
  const task = result.data;
  const heading = useRef<HTMLHeadingElement>(null);
  const state = task?.state;

  useEffect(() => {
    if (!auto) heading.current?.focus();
    const onKey = (event: KeyboardEvent): void => {
      if (
        event.key === 'Escape' &&
        !event.defaultPrevented &&
        document.querySelector('[role=dialog][data-state=open], [role=menu]') === null
      )
        closeTask();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [auto]);

  const title = task === undefined ? '' : taskTitle(task);
  useEffect(() => {
    if (!auto || state !== 'succeeded') return;
    toast.ok(`${title}: done`);
    const timer = window.setTimeout(() => {
      if (openedTask.get()?.id === id) closeTask();
    }, lingerMs);
    return () => window.clearTimeout(timer);
  }, [auto, state, id, title]);

  return (
    <aside
      aria-label="Task"
      className="fixed inset-x-0 bottom-0 z-30 flex max-h-[75dvh] animate-slide flex-col rounded-t-xl bg-raised shadow-float sm:inset-x-auto sm:top-13 sm:right-0 sm:border-l sm:border-line sm:max-h-none sm:w-105 sm:rounded-none"
    >
      <div className="flex items-start gap-3 border-b border-line px-5 py-3.5">
        <div className="min-w-0 flex-1">
          <h2 ref={heading} tabIndex={-1} title={title} className="truncate text-base font-semibold outline-none">
            {task === undefined ? 'Task' : taskVerb(task)}
          </h2>
          {task !== undefined && <Subject task={task} />}
        </div>
        <div aria-live="polite">{task !== undefined && <StateBadge state={task.state} kind="task" />}</div>
        <CopyButton text={`${window.location.origin}/console/tasks/${id}`} label="Copy link to this task" />
        <button
          type="button"
          aria-label="Close task"
          onClick={closeTask}
          className="-mr-2 rounded-md p-1 text-dim hover:bg-sunken hover:text-ink"
        >
          <X aria-hidden className="size-4" />
        </button>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
        {task !== undefined ? (
          <Detail task={task} />
        ) : result.error !== null ? (
          <ProblemNote error={asApiError(result.error)} />
        ) : (
          <Loading />
        )}
      </div>
    </aside>
  );
}

function Subject({ task }: { task: TaskDetail }) {
  const path = subjectPath(task);
  return (
    <p title={task.subject.name} className="truncate text-sm text-dim">
      {path === null ? (
        task.subject.name
      ) : (
        <Link to={path} className="hover:text-ink hover:underline">
          {task.subject.name}
        </Link>
      )}
    </p>
  );
}

function Detail({ task }: { task: TaskDetail }) {
  useVisited('task', `/tasks/${task.id}`, taskTitle(task));
  const live = isLive(task.state);
  const now = useNow(live ? 500 : 60_000);
  const { admin, reasonFor } = useScope();
  const nameOf = useActorName([task.createdBy]);
  const cancel = useWrite(() => api.post('/tasks/{id}/actions/cancel', { path: { id: task.id } }), {
    touches: ['tasks'],
    onDone: () => toast.info('Cancel requested', 'The task stops at its next step and undoes what it did.'),
    onError: (error) => toast.bad('Not cancelled', error),
  });
  const started = task.startedAt ?? task.createdAt;
  const elapsed = (task.endedAt === null ? now : Date.parse(task.endedAt)) - Date.parse(started);
  const cancelReason =
    task.state === 'compensating'
      ? 'It is being undone already.'
      : task.irrevocable !== null
        ? `It can't be cancelled any more: ${task.irrevocable}.`
        : task.projectId === null
          ? admin
            ? null
            : 'Only an administrator may.'
          : reasonFor(task.projectId);
  return (
    <>
      {live && (
        <div className="mb-4">
          <Progress value={task.progress} label="Progress" />
        </div>
      )}
      {task.waiting !== null && <Waiting waiting={task.waiting} now={now} />}
      {task.error !== null && <Cause task={task} />}
      <Relatives task={{ ...task, childTasks: [] }} />
      <TaskSteps steps={task.steps} live={live} stuck={task.state === 'stuck'} />
      <Relatives task={{ ...task, parent: null }} />
      <dl className="mt-5 grid grid-cols-[6rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 border-t border-line pt-4 text-xs">
        <dt className="text-dim">{task.endedAt === null ? 'Running for' : 'Took'}</dt>
        <dd className="nums">{duration(elapsed)}</dd>
        <dt className="text-dim">Started</dt>
        <dd className="nums">{dateTime(started)}</dd>
        <dt className="text-dim">By</dt>
        <dd className="truncate" title={nameOf(task.createdBy)}>
          {nameOf(task.createdBy)}
        </dd>
        <dt className="text-dim">Task</dt>
        <dd className="min-w-0">
          <Copyable text={task.id} label="Copy task id" />
        </dd>
        {task.requestId !== null && (
          <>
            <dt className="text-dim">Request</dt>
            <dd className="min-w-0">
              <Copyable text={task.requestId} label="Copy request id" />
            </dd>
          </>
        )}
      </dl>
      <Interventions task={task} />
      {task.state === 'stuck' && admin && <OperatorActions task={task} />}
      {task.state === 'failed' && draftOf(task.id) !== undefined && (
        <ButtonLink to={`/instances/new?again=${task.id}`} className="mt-5">
          Change and try again
        </ButtonLink>
      )}
      {live && task.state !== 'stuck' && (
        <Button className="mt-5" busy={cancel.isPending} reason={cancelReason} onClick={() => cancel.mutate()}>
          Cancel task
        </Button>
      )}
    </>
  );
}

function Loading() {
  return (
    <div className="space-y-4">
      <Skeleton className="h-3 w-full" />
      <Skeleton className="h-3 w-2/3" />
      <Skeleton className="h-3 w-3/4" />
    </div>
  );
}
