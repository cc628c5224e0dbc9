import { ListChecks, LoaderCircle } from 'lucide-react';
import { useNavigate } from 'react-router';
import { openTask } from '../../features/tasks/open-task';
import { taskTitle } from '../../features/tasks/task-words';
import { useList } from '../../lib/queries';
import { reachability } from '../../lib/reachability';
import { useStore } from '../../lib/store';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../../ui/menu';
import { useScope } from '../scope';

/** The number of tasks at work, and a way to each. */
export function RunningTasks() {
  const { query } = useScope();
  const navigate = useNavigate();
  const live = useList('/tasks', { query: { ...query, state: 'live', system: 'false', limit: 10 } });
  const up = useStore(reachability.state).up;
  const count = live.items.length;
  const label =
    live.error !== null && count === 0
      ? 'Could not be loaded'
      : count === 0
        ? 'No tasks running'
        : `${count}${live.hasNextPage ? '+' : ''} running`;
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`Tasks: ${label}`}
          className="flex h-8 items-center gap-1.5 rounded-md px-2 text-xs text-dim hover:bg-sunken hover:text-ink"
        >
          {count === 0 || !up ? (
            <ListChecks aria-hidden className="size-4" />
          ) : (
            <LoaderCircle aria-hidden className="size-4 animate-spin text-busy" />
          )}
          {count > 0 && <span className="nums text-ink">{live.hasNextPage ? `${count}+` : count}</span>}
        </button>
      }
    >
      <MenuLabel>{label}</MenuLabel>
      {live.items.map((task) => (
        <MenuItem key={task.id} onSelect={() => openTask(task.id)}>
          {taskTitle(task)}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem icon={ListChecks} onSelect={() => void navigate('/tasks')}>
        All tasks
      </MenuItem>
    </Menu>
  );
}
