import { KeyRound } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const sshKeys: Feature = {
  nav: [{ group: 'Compute', item: { to: '/ssh-keys', label: 'SSH keys', icon: KeyRound, key: 'k' } }],
  routes: [{ path: '/ssh-keys', page: lazyPage('ssh-keys', 'SshKeysPage') }],
  create: [{ label: 'Add SSH key', to: '/ssh-keys?new=1', who: 'writers' }],
  find: [
    { collection: 'ssh-keys', heading: 'SSH keys', icon: KeyRound, scoped: true, to: ({ id }) => `/ssh-keys?q=${id}` },
  ],
  live: { 'ssh-key': ['ssh-keys'] },
};
