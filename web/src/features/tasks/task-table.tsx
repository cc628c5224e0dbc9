import { duration } from '../../lib/format';
import { useNow } from '../../lib/queries';
import type { Task } from '../../lib/types';
import { Progress } from '../../ui/meter';
import { StateBadge } from '../../ui/state';
import { NameTd, Cut, Head, Row, SkeletonRows, Table, Td, Th } from '../../ui/table';
import { Age } from '../../ui/time';
import { openTask } from './open-task';
import { useActorName } from './use-actor-name';
import { isLive, taskVerb } from './task-words';

const elapsed = (task: Task, now: number): string => (task.startedAt === null ? '' : duration((task.endedAt === null ? now : Date.parse(task.endedAt)) - Date.parse(task.startedAt)));

/** Rows of tasks; each opens its drawer. */
export function TaskTable({ tasks, loading, hideSubject = false }: { tasks: Task[]; loading: boolean; hideSubject?: boolean }) {
  const nameOf = useActorName();
  const now = useNow(tasks.some((t) => isLive(t.state)) ? 1000 : 60_000);
  return (
    <Table label="Tasks">
      <Head>
        <Th>Task</Th>
        {!hideSubject && <Th from="sm">Subject</Th>}
        <Th>State</Th>
        <Th from="md">Took</Th>
        <Th from="lg">By</Th>
        <Th from="sm">Started</Th>
      </Head>
      <tbody>
        {loading && <SkeletonRows columns={6} />}
        {tasks.map((task) => (
          <Row key={task.id} onClick={() => openTask(task.id)}>
            <NameTd>
              <button type="button" className="block max-w-full truncate rounded text-left font-medium hover:underline" onClick={(event) => (event.stopPropagation(), openTask(task.id))}>
                {taskVerb(task)}
              </button>
              {!hideSubject && <span className="block truncate text-xs text-dim @md:hidden">{task.subject.name}</span>}
              {task.error !== null && <Cut text={task.error.message} className="max-w-72 text-xs text-bad" />}
            </NameTd>
            {!hideSubject && (
              <Td from="sm" className="max-w-60">
                <Cut text={task.subject.name} />
              </Td>
            )}
            <Td>
              <StateBadge state={task.state} kind="task" />
              {(task.state === 'running' || task.state === 'compensating') && (
                <div className="mt-1.5 w-24">
                  <Progress value={task.progress} label="Progress" />
                </div>
              )}
            </Td>
            <Td from="md" className="text-dim">
              {elapsed(task, now)}
            </Td>
            <Td from="lg" className="max-w-40 text-dim">
              <Cut text={nameOf(task.createdBy)} />
            </Td>
            <Td from="sm" className="text-dim">
              <Age at={task.createdAt} suffix=" ago" />
            </Td>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
