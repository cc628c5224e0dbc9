import {
  Box,
  Disc3,
  FolderKanban,
  Gauge,
  HardDrive,
  KeyRound,
  LayoutDashboard,
  ListChecks,
  Network,
  Server,
  Users,
  type LucideIcon,
} from 'lucide-react';

export interface NavItem {
  to: string;
  label: string;
  icon: LucideIcon;
  /** Second key after `g`. */
  key?: string;
  adminOnly?: boolean;
}

export const navGroups: { label: string | null; items: NavItem[] }[] = [
  { label: null, items: [{ to: '/', label: 'Overview', icon: LayoutDashboard, key: 'o' }] },
  {
    label: 'Compute',
    items: [
      { to: '/instances', label: 'Instances', icon: Box, key: 'i' },
      { to: '/images', label: 'Images', icon: Disc3, key: 'm' },
      { to: '/flavors', label: 'Flavors', icon: Gauge, key: 'f' },
      { to: '/ssh-keys', label: 'SSH keys', icon: KeyRound, key: 'k' },
    ],
  },
  {
    label: 'Network and storage',
    items: [
      { to: '/networks', label: 'Networks', icon: Network, key: 'n' },
      { to: '/volumes', label: 'Volumes', icon: HardDrive, key: 'v' },
    ],
  },
  {
    label: 'Operations',
    items: [
      { to: '/tasks', label: 'Tasks', icon: ListChecks, key: 't' },
      { to: '/hosts', label: 'Hosts', icon: Server, key: 'h', adminOnly: true },
      { to: '/projects', label: 'Projects', icon: FolderKanban, key: 'p' },
      { to: '/users', label: 'Users', icon: Users, key: 'u', adminOnly: true },
    ],
  },
];

export const navItems = (admin: boolean): NavItem[] =>
  navGroups.flatMap((g) => g.items).filter((item) => admin || item.adminOnly !== true);
