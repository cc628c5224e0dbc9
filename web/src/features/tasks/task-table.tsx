import type { Task } from '../../lib/types';
import { ItemTable } from '../../ui/lists/list-page';
import { openTask } from './open-task';
import { useTaskColumns } from './task-columns';

const open = (id: string): void => openTask(id);

/** Rows of tasks; each opens its drawer. */
export function TaskTable({
  tasks,
  loading,
  hideSubject = false,
}: {
  tasks: Task[];
  loading: boolean;
  hideSubject?: boolean;
}) {
  const columns = useTaskColumns(tasks, open, hideSubject);
  return <ItemTable label="Tasks" items={tasks} columns={columns} loading={loading} onRow={(task) => open(task.id)} />;
}
