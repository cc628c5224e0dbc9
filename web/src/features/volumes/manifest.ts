import { HardDrive } from 'lucide-react';
import type { Feature, HostPartProps } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const volumes: Feature = {
  nav: [{ group: 'Network and storage', item: { to: '/volumes', label: 'Volumes', icon: HardDrive, key: 'v' } }],
  routes: [{ path: '/volumes', page: lazyPage('volumes', 'VolumesPage') }],
  create: [{ label: 'New volume', to: '/volumes?new=1', who: 'writers' }],
  find: [
    { collection: 'volumes', heading: 'Volumes', icon: HardDrive, scoped: true, to: ({ id }) => `/volumes?q=${id}` },
  ],
  live: { volume: ['volumes'] },
  hostParts: { pools: lazyPage<HostPartProps>('volumes', 'PoolsCard') },
};
