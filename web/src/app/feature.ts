import type { LucideIcon } from 'lucide-react';
import type { ComponentType, ReactNode } from 'react';

export interface NavItem {
  to: string;
  label: string;
  icon: LucideIcon;
  /** Second key after `g`. */
  key?: string;
  adminOnly?: boolean;
}

interface FeatureRoute {
  path: string;
  page: ComponentType<object>;
  adminOnly?: true;
  /** Shown alone, without the frame around it. */
  bare?: true;
}

/** An object as every list has it. */
export interface Found {
  id: string;
  name?: string;
  state?: string;
}

/** A collection in which the palette looks for names, ids and addresses. */
export interface Findable {
  collection: string;
  heading: string;
  icon: LucideIcon;
  /** Over all projects, or of the chosen one. */
  scoped: boolean;
  adminOnly?: true;
  /** Its own page, or its row in the list. */
  to: (item: Found) => string;
  /** Its name where that is left out. */
  label?: (item: Found) => string;
  /** After what others find: there are many of it, called as other things are. */
  last?: true;
  /** Its states are those of tasks. */
  task?: true;
}

/** A verb that the palette understands before a name: `stop web`. */
export interface PaletteVerb {
  action: string;
  label: string;
  icon: LucideIcon;
  words: readonly string[];
}

/** What the palette gives to who shows what a verb may be done with. */
export interface PaletteResultsProps {
  verb: PaletteVerb;
  /** What was typed after the verb. */
  rest: string;
  /** How results and each of them look in the palette. */
  Group: ComponentType<{ heading: string; children: ReactNode }>;
  Item: ComponentType<PaletteItemProps>;
  /** Ends the search: what was chosen is under way, or asks a question of its own. */
  onDone: () => void;
  /** Shows a dialog in the palette's place. */
  onAsk: (dialog: ReactNode) => void;
  /** The result that is the best choice. */
  onChoice: (value: string) => void;
}

export interface PaletteItemProps {
  icon: LucideIcon;
  value: string;
  onSelect: () => void;
  children: ReactNode;
  aside?: ReactNode;
  /** Why it cannot be chosen. */
  reason?: string | null;
}

/** The entries of a part of a host's inventory, as the part's own module has them in the API document. */
export interface HostPartProps {
  entries: readonly unknown[];
}

/**
 * What one noun adds to the console: all that the frame around the pages would else list. Loaded with the first page,
 * so it holds no page but those; the others come by `lazyPage`.
 */
export interface Feature {
  /** Its places in the navigation, below the heading of their group (null: above all groups). */
  nav?: readonly { group: string | null; item: NavItem; first?: true }[];
  routes?: readonly FeatureRoute[];
  /** What the palette offers to create. */
  create?: readonly { label: string; to: string; who: 'writers' | 'admins' }[];
  /** What the palette searches. */
  find?: readonly Findable[];
  /** Verbs of the palette, and who shows what each may be done with. */
  palette?: { verbs: readonly PaletteVerb[]; Results: ComponentType<PaletteResultsProps> };
  /** By the noun of an event: the REST collections whose answers contain it, its own first. */
  live?: Readonly<Record<string, readonly string[]>>;
  /** By a part of every host's inventory that its module declares: the card that shows it on the host's page. */
  hostParts?: Readonly<Record<string, ComponentType<HostPartProps>>>;
  /** By noun: its sign where it stands among others. */
  icons?: Readonly<Record<string, LucideIcon>>;
  /** When a user has signed out: forgets what it kept of it. */
  forget?: () => void;
}
