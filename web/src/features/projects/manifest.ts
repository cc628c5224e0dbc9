import { FolderKanban } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const projects: Feature = {
  nav: [{ group: 'Operations', item: { to: '/projects', label: 'Projects', icon: FolderKanban, key: 'p' } }],
  routes: [
    { path: '/projects', page: lazyPage('projects', 'ProjectsPage') },
    { path: '/projects/:id', page: lazyPage('projects', 'ProjectPage') },
  ],
  create: [{ label: 'New project', to: '/projects?new=1', who: 'admins' }],
  find: [
    {
      collection: 'projects',
      heading: 'Projects',
      icon: FolderKanban,
      scoped: false,
      to: ({ id }) => `/projects/${id}`,
    },
  ],
  live: { project: ['projects', 'whoami'], member: ['projects', 'whoami'] },
  icons: { project: FolderKanban },
};
