import {
  Box,
  Disc3,
  FolderKanban,
  Gauge,
  HardDrive,
  KeyRound,
  ListChecks,
  Network as NetworkIcon,
  Server,
  Users,
  type LucideIcon,
} from 'lucide-react';
import { taskTitle } from '../features/tasks/task-words';
import { useList } from '../lib/queries';
import type { Task } from '../lib/types';
import { useScope } from './scope';

interface Found {
  id: string;
  name?: string;
  state?: string;
}

/** One noun that the palette finds. Nouns without a page of their own lead to their row. */
interface Noun {
  collection: string;
  heading: string;
  icon: LucideIcon;
  /** Over all projects, or of the chosen one. */
  scoped: boolean;
  adminOnly?: true;
  to: (item: Found) => string;
}

const page = (base: string) => (item: Found) => `${base}/${item.id}`;
const row = (base: string) => (item: Found) => `${base}?q=${item.id}`;

const nouns: readonly Noun[] = [
  { collection: 'instances', heading: 'Instances', icon: Box, scoped: true, to: page('/instances') },
  { collection: 'images', heading: 'Images', icon: Disc3, scoped: true, to: row('/images') },
  { collection: 'networks', heading: 'Networks', icon: NetworkIcon, scoped: true, to: page('/networks') },
  { collection: 'volumes', heading: 'Volumes', icon: HardDrive, scoped: true, to: row('/volumes') },
  { collection: 'flavors', heading: 'Flavors', icon: Gauge, scoped: false, to: row('/flavors') },
  { collection: 'ssh-keys', heading: 'SSH keys', icon: KeyRound, scoped: true, to: row('/ssh-keys') },
  { collection: 'hosts', heading: 'Hosts', icon: Server, scoped: false, adminOnly: true, to: page('/hosts') },
  { collection: 'projects', heading: 'Projects', icon: FolderKanban, scoped: false, to: page('/projects') },
  { collection: 'users', heading: 'Users', icon: Users, scoped: false, adminOnly: true, to: page('/users') },
  { collection: 'tasks', heading: 'Tasks', icon: ListChecks, scoped: true, to: page('/tasks') },
];

/** Of each noun so many are shown. */
const each = 5;

export interface Group {
  heading: string;
  icon: LucideIcon;
  items: { id: string; label: string; to: string; state?: string; task: boolean }[];
}

/** Everything that `q` finds by name, id or address, by noun. Nothing is asked while `q` is empty. */
export const usePaletteSearch = (q: string): { groups: Group[]; searching: boolean; failed: number } => {
  const { admin, query } = useScope();
  const lists = nouns.map((noun) => ({
    noun,
    // The nouns are a constant, so the hooks come in the same order at every render.
    list: useList<Found>(
      noun.collection,
      { ...(noun.scoped ? query : {}), limit: each, q },
      q !== '' && (admin || noun.adminOnly !== true),
    ),
  }));
  const groups = lists
    .filter(({ list }) => list.items.length > 0 && !list.isPlaceholderData && q !== '')
    .map(({ noun, list }) => ({
      heading: noun.heading,
      icon: noun.icon,
      items: list.items.map((item) => ({
        id: item.id,
        label: noun.collection === 'tasks' ? taskTitle(item as unknown as Task) : (item.name ?? item.id),
        to: noun.to(item),
        task: noun.collection === 'tasks',
        ...(item.state === undefined ? {} : { state: item.state }),
      })),
    }));
  return {
    groups,
    searching: lists.some(({ list }) => list.isFetching),
    failed: lists.filter(({ list }) => list.error !== null).length,
  };
};
