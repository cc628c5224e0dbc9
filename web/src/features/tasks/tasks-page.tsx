import { ListChecks } from 'lucide-react';
import { useSearchParams } from 'react-router';
import { useScope } from '../../app/scope';
import { useList } from '../../lib/queries';
import type { Task } from '../../lib/types';
import { Empty } from '../../ui/empty';
import { FilterSelect } from '../../ui/filter-bar';
import { LoadError } from '../../ui/list-states';
import { Card, Page } from '../../ui/page';
import { LoadMore } from '../../ui/table';
import { TaskTable } from './task-table';

const states = [
  ['', 'Any state'],
  ['live', 'At work'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
  ['stuck', 'Stuck'],
] as const;

export default function TasksPage() {
  const { query } = useScope();
  const [params, setParams] = useSearchParams();
  const state = params.get('state') ?? '';
  const tasks = useList<Task>('tasks', { ...query, state });
  const empty = tasks.isSuccess && tasks.items.length === 0;
  return (
    <Page title="Tasks" description="Everything that was asked for and takes time: its steps, where it runs, and why it failed.">
      <Card>
        <div className="flex items-center gap-2 border-b border-line p-2.5">
          <FilterSelect label="State" value={state} onChange={(next) => setParams(next === '' ? {} : { state: next }, { replace: true })} options={states} />
        </div>
        {tasks.error !== null && tasks.items.length === 0 ? (
          <LoadError error={tasks.error} onRetry={() => void tasks.refetch()} />
        ) : empty ? (
          <Empty icon={ListChecks} title={state === '' ? 'No tasks yet' : 'No task in this state'}>
            Creating, starting, stopping and deleting instances, and importing images, run as tasks and appear here.
          </Empty>
        ) : (
          <TaskTable tasks={tasks.items} loading={tasks.isPending} />
        )}
        <LoadMore shown={tasks.items.length} more={tasks.hasNextPage} busy={tasks.isFetchingNextPage} onMore={() => void tasks.fetchNextPage()} />
      </Card>
    </Page>
  );
}
