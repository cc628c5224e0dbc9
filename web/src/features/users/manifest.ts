import { User, Users } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const users: Feature = {
  nav: [{ group: 'Operations', item: { to: '/users', label: 'Users', icon: Users, key: 'u', adminOnly: true } }],
  routes: [
    { path: '/users', page: lazyPage('users', 'UsersPage'), adminOnly: true },
    { path: '/users/:id', page: lazyPage('users', 'UserPage'), adminOnly: true },
  ],
  create: [{ label: 'New user', to: '/users?new=1', who: 'admins' }],
  find: [
    {
      collection: 'users',
      heading: 'Users',
      icon: Users,
      scoped: false,
      adminOnly: true,
      to: ({ id }) => `/users/${id}`,
    },
  ],
  live: { user: ['users'] },
  icons: { user: User },
};
