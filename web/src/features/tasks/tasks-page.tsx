import { ListChecks } from 'lucide-react';
import { useCallback, useEffect, useRef } from 'react';
import { useLocation, useNavigate, useParams } from 'react-router';
import { useList } from '../../lib/queries';
import { useStore } from '../../lib/store';
import { ListPage } from '../../ui/lists/list-page';
import { closeTask, openedTask, openTask } from './open-task';
import { useTaskColumns } from './task-columns';
import { TaskFilters, useTaskFilters } from './task-filters';

/** Keeps `/tasks/:id` and the open drawer the same thing. Returns how to open one. */
const useAddressedTask = (): ((id: string) => void) => {
  const { id } = useParams();
  const { search } = useLocation();
  const navigate = useNavigate();
  const opened = useStore(openedTask)?.id ?? null;
  const shown = useRef<string | null>(null);
  const addressed = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (id !== undefined) openTask(id);
    else if (addressed.current !== undefined && openedTask.get()?.id === addressed.current) closeTask();
    addressed.current = id;
  }, [id]);
  useEffect(() => {
    const before = shown.current;
    shown.current = opened;
    if (id !== undefined && before === id && opened !== id)
      void navigate(`/tasks${opened === null ? '' : `/${opened}`}${search}`, { replace: true });
  }, [opened, id, search, navigate]);
  return useCallback((task: string) => void navigate(`/tasks/${task}${search}`), [navigate, search]);
};

export default function TasksPage() {
  const filters = useTaskFilters();
  const tasks = useList('/tasks', { query: filters.request });
  const open = useAddressedTask();
  return (
    <ListPage
      title="Tasks"
      description="Everything that was asked for and takes time: its steps, where it runs, and why it failed."
      list={tasks}
      columns={useTaskColumns(tasks.items, open)}
      search={filters.search}
      searched="subject or id"
      filters={<TaskFilters filters={filters} />}
      onClear={filters.clear}
      narrowed={filters.narrowed}
      onRow={(task) => open(task.id)}
      empty={{
        icon: ListChecks,
        title: 'No tasks yet',
        text: 'Creating, starting, stopping and deleting instances, and importing images, run as tasks and appear here.',
      }}
    />
  );
}
