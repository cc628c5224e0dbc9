import { ShieldCheck } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const securityGroups: Feature = {
  nav: [
    { group: 'Network and storage', item: { to: '/security-groups', label: 'Security groups', icon: ShieldCheck } },
  ],
  routes: [
    { path: '/security-groups', page: lazyPage('security-groups', 'SecurityGroupsPage') },
    { path: '/security-groups/:id', page: lazyPage('security-groups', 'SecurityGroupPage') },
  ],
  create: [{ label: 'New security group', to: '/security-groups?new=1', who: 'writers' }],
  find: [
    {
      collection: 'security-groups',
      heading: 'Security groups',
      icon: ShieldCheck,
      scoped: true,
      to: ({ id }) => `/security-groups/${id}`,
    },
  ],
  live: { 'security-group': ['security-groups'] },
  icons: { 'security-group': ShieldCheck },
};
