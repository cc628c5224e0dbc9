import { Command } from 'cmdk';
import { BookOpen, History, Keyboard, KeyRound, LogOut, Moon, Plus, Sun, type LucideIcon } from 'lucide-react';
import { Dialog as D } from 'radix-ui';
import { useEffect, useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { useDebounced } from '../lib/queries';
import { recent } from '../lib/recent';
import { logout } from '../lib/session';
import { useStore } from '../lib/store';
import { chooseTheme } from '../lib/theme';
import { StateBadge } from '../ui/state';
import type { PaletteItemProps } from './feature';
import { useFeatures } from './use-features';
import { usePaletteSearch } from './palette-search';
import { useScope } from './scope';
import { helpOpen, paletteOpen } from './shortcuts';

const itemClass =
  'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm data-[disabled=true]:cursor-not-allowed data-[disabled=true]:text-dim data-[selected=true]:bg-sunken';
const groupClass =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-dim';

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group heading={heading} className={groupClass}>
      {children}
    </Command.Group>
  );
}

function Item({ icon: Icon, value, onSelect, children, aside, reason = null }: PaletteItemProps) {
  return (
    <Command.Item value={value} onSelect={onSelect} disabled={reason !== null} className={itemClass}>
      <Icon aria-hidden className="size-4 shrink-0 text-dim" />
      <span className="min-w-0 flex-1">
        <span className="block truncate">{children}</span>
        {reason !== null && <span className="block truncate text-xs">{reason}</span>}
      </span>
      {aside}
    </Command.Item>
  );
}

/** One of the commands that are always there. */
interface Fixed {
  icon: LucideIcon;
  label: string;
  /** Further words that find it. */
  words?: string;
  run: () => void;
  aside?: ReactNode;
}

/** Every word of the text is in the label or its further words. */
const matches = ({ label, words = '' }: Fixed, text: string): boolean => {
  const searched = `${label} ${words}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
};

/**
 * Ctrl+K: find anything by name, id or address, act on an instance ("stop web"), go anywhere, create anything. A chunk
 * of its own.
 */
export default function Palette() {
  const { admin, readOnly } = useScope();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [chosen, choose] = useState('');
  const [dialog, ask] = useState<ReactNode>(null);
  const features = useFeatures();
  const visits = useStore(recent);
  const action = features.parseAction(text);
  const Results = action === null ? undefined : features.ofVerb(action.verb)?.palette?.Results;
  const typed = text.trim();
  const settled = useDebounced(typed, 120);
  const waiting = settled !== typed;
  const { groups, searching, failed } = usePaletteSearch(action === null ? settled : '');

  const close = (): void => paletteOpen.set(false);
  const go = (to: string) => () => {
    close();
    void navigate(to);
  };
  const then = (run: () => void) => () => {
    close();
    run();
  };
  const fixed = (heading: string, items: Fixed[]): { heading: string; items: Fixed[] } => ({
    heading,
    items: typed === '' ? items : items.filter((item) => matches(item, typed)),
  });
  const create = (label: string, to: string): Fixed => ({ icon: Plus, label, words: 'create', run: go(to) });
  const commands = [
    fixed('Go to', [
      ...features.navItems(admin).map((n) => ({
        icon: n.icon,
        label: n.label,
        words: 'go to',
        run: go(n.to),
        ...(n.key === undefined ? {} : { aside: <span className="text-xs text-dim">g {n.key}</span> }),
      })),
      { icon: KeyRound, label: 'Account and API tokens', words: 'go to password', run: go('/account') },
    ]),
    fixed(
      'Create',
      (['writers', 'admins'] as const)
        .filter((who) => (who === 'admins' ? admin : readOnly === null))
        .flatMap((who) => features.all.flatMap((f) => f.create ?? []).filter((c) => c.who === who))
        .map(({ label, to }) => create(label, to)),
    ),
    fixed('More', [
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

  // What was found is the first choice.
  const firstGroup = groups[0];
  const firstItem = firstGroup?.items[0];
  const best = firstGroup !== undefined && firstItem !== undefined ? `${firstGroup.heading} ${firstItem.id}` : '';
  useEffect(() => {
    if (best !== '') choose(best);
  }, [best]);

  if (dialog !== null) return dialog;
  return (
    <D.Root open onOpenChange={(open) => !open && close()}>
      <D.Portal>
        <D.Overlay className="fixed inset-0 z-40 bg-shade" />
        <D.Content
          aria-describedby={undefined}
          className="fixed inset-x-3 top-[10vh] z-50 mx-auto max-w-xl animate-appear overflow-hidden rounded-xl bg-raised shadow-float"
        >
          <D.Title className="sr-only">Search and commands</D.Title>
          <Command label="Search and commands" loop shouldFilter={false} value={chosen} onValueChange={choose}>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Name, id or address, or “stop web”…"
              className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none"
            />
            <Command.List label="Results" className="max-h-[min(28rem,65vh)] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-8 text-center text-sm text-dim">
                {waiting || searching
                  ? 'Searching…'
                  : failed > 0
                    ? 'The search failed: the server does not answer all of it.'
                    : 'Nothing of that name, id or address.'}
              </Command.Empty>
              {action !== null && Results !== undefined && (
                <Results
                  verb={action.verb}
                  rest={action.rest}
                  Group={Group}
                  Item={Item}
                  onAsk={ask}
                  onDone={close}
                  onChoice={choose}
                />
              )}
              {typed === '' && visits.length > 0 && (
                <Group heading="Recent">
                  {visits.map((visit) => (
                    <Item
                      key={visit.to}
                      icon={features.icons[visit.kind] ?? History}
                      value={`recent ${visit.to}`}
                      onSelect={go(visit.to)}
                      aside={<span className="text-xs text-dim">{visit.kind}</span>}
                    >
                      {visit.name}
                    </Item>
                  ))}
                </Group>
              )}
              {groups.map(({ heading, icon, items }) => (
                <Group key={heading} heading={heading}>
                  {items.map((item) => (
                    <Item
                      key={item.id}
                      icon={icon}
                      value={`${heading} ${item.id}`}
                      onSelect={go(item.to)}
                      aside={
                        item.state !== undefined && (
                          <StateBadge state={item.state} {...(item.task ? { kind: 'task' as const } : {})} />
                        )
                      }
                    >
                      {item.label}
                    </Item>
                  ))}
                </Group>
              ))}
              {commands.map(({ heading, items }) => (
                <Group key={heading} heading={heading}>
                  {items.map((item) => (
                    <Item
                      key={item.label}
                      icon={item.icon}
                      value={`${heading} ${item.label}`}
                      onSelect={item.run}
                      aside={item.aside}
                    >
                      {item.label}
                    </Item>
                  ))}
                </Group>
              ))}
            </Command.List>
          </Command>
        </D.Content>
      </D.Portal>
    </D.Root>
  );
}
