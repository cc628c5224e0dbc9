import { Box } from 'lucide-react';
import type { Feature, HostPartProps, PaletteResultsProps } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';
import { forgetDrafts } from './create/drafts';
import { InstancesPage } from './instances-page';
import { verbs } from './palette-verbs';

export const instances: Feature = {
  nav: [{ group: 'Compute', item: { to: '/instances', label: 'Instances', icon: Box, key: 'i' } }],
  routes: [
    { path: '/instances', page: InstancesPage },
    { path: '/instances/new', page: lazyPage('instances', 'CreateInstancePage') },
    { path: '/instances/:id', page: lazyPage('instances', 'InstancePage') },
    { path: '/instances/:id/console', page: lazyPage('instances', 'ConsolePage'), bare: true },
  ],
  create: [{ label: 'New instance', to: '/instances/new', who: 'writers' }],
  find: [
    {
      collection: 'instances',
      heading: 'Instances',
      icon: Box,
      scoped: true,
      to: ({ id }) => `/instances/${id}`,
    },
  ],
  palette: {
    verbs,
    Results: lazyPage<PaletteResultsProps>('instances', 'InstanceResults'),
  },
  live: { instance: ['instances', 'ports', 'volumes', 'networks', 'hosts'] },
  hostParts: { vmms: lazyPage<HostPartProps>('instances', 'VmmsCard') },
  icons: { instance: Box },
  forget: forgetDrafts,
};
