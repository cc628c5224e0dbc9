import { Network, Waypoints } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const networks: Feature = {
  nav: [
    { group: 'Network and storage', item: { to: '/networks', label: 'Networks', icon: Network, key: 'n' } },
    { group: 'Network and storage', item: { to: '/routers', label: 'Routers', icon: Waypoints } },
  ],
  routes: [
    { path: '/networks', page: lazyPage('networks', 'NetworksPage') },
    { path: '/networks/:id', page: lazyPage('networks', 'NetworkPage') },
    { path: '/routers', page: lazyPage('networks', 'RoutersPage') },
    { path: '/routers/:id', page: lazyPage('networks', 'RouterPage') },
  ],
  create: [
    { label: 'New network', to: '/networks?new=1', who: 'writers' },
    { label: 'New router', to: '/routers?new=1', who: 'writers' },
  ],
  find: [
    { collection: 'networks', heading: 'Networks', icon: Network, scoped: true, to: ({ id }) => `/networks/${id}` },
    { collection: 'routers', heading: 'Routers', icon: Waypoints, scoped: true, to: ({ id }) => `/routers/${id}` },
  ],
  live: {
    network: ['networks', 'ports'],
    subnet: ['subnets', 'networks', 'routers'],
    router: ['routers', 'networks', 'subnets'],
    port: ['ports', 'networks', 'subnets'],
  },
  icons: { network: Network, router: Waypoints },
};
