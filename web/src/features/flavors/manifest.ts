import { Gauge } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const flavors: Feature = {
  nav: [{ group: 'Compute', item: { to: '/flavors', label: 'Flavors', icon: Gauge, key: 'f' } }],
  routes: [{ path: '/flavors', page: lazyPage('flavors', 'FlavorsPage') }],
  create: [{ label: 'New flavor', to: '/flavors?new=1', who: 'admins' }],
  find: [{ collection: 'flavors', heading: 'Flavors', icon: Gauge, scoped: false, to: ({ id }) => `/flavors?q=${id}` }],
  live: { flavor: ['flavors'] },
};
