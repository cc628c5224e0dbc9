import { BookOpen, Keyboard, KeyRound, LogOut, Moon, Plus, Sun, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { logout } from '../../lib/session';
import { chooseTheme } from '../../lib/theme';
import { useScope } from '../scope';
import { helpOpen } from '../shell/shortcuts';
import { useFeatures } from '../use-features';

/** One of the commands that are always there. */
interface PaletteCommand {
  icon: LucideIcon;
  label: string;
  /** Further words that find it. */
  words?: string;
  run: () => void;
  aside?: ReactNode;
}

/** Every word of the text is in the label or its further words. */
const matches = ({ label, words = '' }: PaletteCommand, text: string): boolean => {
  const searched = `${label} ${words}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
};

interface CommandGroup {
  heading: string;
  items: PaletteCommand[];
}

/** Where one can go, what one can create and the rest: those that the text finds. */
export const usePaletteCommands = (
  typed: string,
  go: (to: string) => () => void,
  close: () => void,
): CommandGroup[] => {
  const { admin, readOnly } = useScope();
  const features = useFeatures();
  const then = (run: () => void) => () => {
    close();
    run();
  };
  const found = (heading: string, items: PaletteCommand[]): CommandGroup => ({
    heading,
    items: typed === '' ? items : items.filter((item) => matches(item, typed)),
  });
  const create = (label: string, to: string): PaletteCommand => ({ icon: Plus, label, words: 'create', run: go(to) });
  return [
    found('Go to', [
      ...features.navItems(admin).map((n) => ({
        icon: n.icon,
        label: n.label,
        words: 'go to',
        run: go(n.to),
        ...(n.key === undefined ? {} : { aside: <span className="text-xs text-dim">g {n.key}</span> }),
      })),
      { icon: KeyRound, label: 'Account and API tokens', words: 'go to password', run: go('/account') },
    ]),
    found(
      'Create',
      (['writers', 'admins'] as const)
        .filter((who) => (who === 'admins' ? admin : readOnly === null))
        .flatMap((who) => features.all.flatMap((f) => f.create ?? []).filter((c) => c.who === who))
        .map(({ label, to }) => create(label, to)),
    ),
    found('More', [
      { icon: Sun, label: 'Light theme', run: then(() => chooseTheme('light')) },
      { icon: Moon, label: 'Dark theme', run: then(() => chooseTheme('dark')) },
      { icon: Keyboard, label: 'Keyboard shortcuts', words: 'help', run: then(() => helpOpen.set(true)) },
      {
        icon: BookOpen,
        label: 'API reference',
        words: 'documentation',
        run: then(() => void window.open('/api/docs', '_blank', 'noopener')),
      },
      { icon: LogOut, label: 'Sign out', words: 'log out', run: then(() => void logout()) },
    ]),
  ].filter(({ items }) => items.length > 0);
};
