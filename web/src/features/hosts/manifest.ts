import { Server } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const hosts: Feature = {
  nav: [{ group: 'Operations', item: { to: '/hosts', label: 'Hosts', icon: Server, key: 'h', adminOnly: true } }],
  routes: [
    { path: '/hosts', page: lazyPage('hosts', 'HostsPage'), adminOnly: true },
    { path: '/hosts/:id', page: lazyPage('hosts', 'HostPage'), adminOnly: true },
  ],
  create: [{ label: 'Add host', to: '/hosts?new=1', who: 'admins' }],
  find: [
    {
      collection: 'hosts',
      heading: 'Hosts',
      icon: Server,
      scoped: false,
      adminOnly: true,
      to: ({ id }) => `/hosts/${id}`,
    },
  ],
  // A host that joined has used its command.
  live: { host: ['hosts', 'host-tokens'] },
  icons: { host: Server },
};
