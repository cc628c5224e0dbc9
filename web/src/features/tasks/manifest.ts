import { ListChecks } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';
import type { Task } from '../../lib/types';
import { taskTitle } from './task-words';

export const tasks: Feature = {
  nav: [{ group: 'Operations', first: true, item: { to: '/tasks', label: 'Tasks', icon: ListChecks, key: 't' } }],
  routes: [{ path: '/tasks/:id?', page: lazyPage('tasks', 'TasksPage') }],
  find: [
    {
      collection: 'tasks',
      heading: 'Tasks',
      icon: ListChecks,
      scoped: true,
      to: ({ id }) => `/tasks/${id}`,
      label: (task) => taskTitle(task as unknown as Task),
      last: true,
      task: true,
    },
  ],
  live: { task: ['tasks'] },
  icons: { task: ListChecks },
};
