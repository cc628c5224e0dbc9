import { Disc3 } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const images: Feature = {
  nav: [{ group: 'Compute', item: { to: '/images', label: 'Images', icon: Disc3, key: 'm' } }],
  routes: [{ path: '/images', page: lazyPage('images', 'ImagesPage') }],
  create: [{ label: 'Add image', to: '/images?new=1', who: 'writers' }],
  find: [{ collection: 'images', heading: 'Images', icon: Disc3, scoped: true, to: ({ id }) => `/images?q=${id}` }],
  live: { image: ['images'] },
};
