import { Network } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const networks: Feature = {
  nav: [{ group: 'Network and storage', item: { to: '/networks', label: 'Networks', icon: Network, key: 'n' } }],
  routes: [
    { path: '/networks', page: lazyPage('networks', 'NetworksPage') },
    { path: '/networks/:id', page: lazyPage('networks', 'NetworkPage') },
  ],
  create: [{ label: 'New network', to: '/networks?new=1', who: 'writers' }],
  find: [
    { collection: 'networks', heading: 'Networks', icon: Network, scoped: true, to: ({ id }) => `/networks/${id}` },
  ],
  live: { network: ['networks', 'ports'], port: ['ports', 'networks'] },
  icons: { network: Network },
};
