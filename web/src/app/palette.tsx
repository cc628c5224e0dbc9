import { Command } from 'cmdk';
import {
  BookOpen,
  Box,
  FolderKanban,
  History,
  Keyboard,
  KeyRound,
  ListChecks,
  LogOut,
  Moon,
  Network as NetworkIcon,
  Plus,
  Server,
  Sun,
  User,
  type LucideIcon,
} from 'lucide-react';
import { Dialog as D } from 'radix-ui';
import { useEffect, useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { DeleteInstances } from '../features/instances/delete-instances';
import type { PowerVerb } from '../features/instances/use-instance-actions';
import { useInstanceActions } from '../features/instances/use-instance-actions';
import { useDebounced, useList } from '../lib/queries';
import { recent } from '../lib/recent';
import { logout } from '../lib/session';
import { useStore } from '../lib/store';
import { chooseTheme } from '../lib/theme';
import type { Instance } from '../lib/types';
import { StateBadge } from '../ui/state';
import { navItems } from './nav';
import { parseAction, type Verb } from './palette-actions';
import { usePaletteSearch } from './palette-search';
import { useScope } from './scope';
import { helpOpen, paletteOpen } from './shortcuts';

const itemClass =
  'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm data-[disabled=true]:cursor-not-allowed data-[disabled=true]:text-dim data-[selected=true]:bg-sunken';
const groupClass =
  '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-dim';
const recentIcons: Record<string, LucideIcon> = {
  instance: Box,
  network: NetworkIcon,
  host: Server,
  project: FolderKanban,
  user: User,
  task: ListChecks,
};

function Item({
  icon: Icon,
  value,
  onSelect,
  children,
  aside,
  reason = null,
}: {
  icon: LucideIcon;
  value: string;
  onSelect: () => void;
  children: ReactNode;
  aside?: ReactNode;
  reason?: string | null;
}) {
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
  const [deleting, setDeleting] = useState<Instance | null>(null);
  const visits = useStore(recent);
  const action = parseAction(text);
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
      ...navItems(admin).map((n) => ({
        icon: n.icon,
        label: n.label,
        words: 'go to',
        run: go(n.to),
        ...(n.key === undefined ? {} : { aside: <span className="text-xs text-dim">g {n.key}</span> }),
      })),
      { icon: KeyRound, label: 'Account and API tokens', words: 'go to password', run: go('/account') },
    ]),
    fixed('Create', [
      ...(readOnly === null
        ? [
            create('New instance', '/instances/new'),
            create('Add image', '/images?new=1'),
            create('New network', '/networks?new=1'),
            create('Add SSH key', '/ssh-keys?new=1'),
          ]
        : []),
      ...(admin
        ? [
            create('New flavor', '/flavors?new=1'),
            create('Add host', '/hosts?new=1'),
            create('New project', '/projects?new=1'),
            create('New user', '/users?new=1'),
          ]
        : []),
    ]),
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

  if (deleting !== null) return <DeleteInstances instances={[deleting]} onClose={close} onDone={close} />;
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
              {action !== null && (
                <Actions
                  verb={action.verb}
                  rest={action.rest}
                  onDelete={setDeleting}
                  onDone={close}
                  onChoice={choose}
                />
              )}
              {typed === '' && visits.length > 0 && (
                <Command.Group heading="Recent" className={groupClass}>
                  {visits.map((visit) => (
                    <Item
                      key={visit.to}
                      icon={recentIcons[visit.kind] ?? History}
                      value={`recent ${visit.to}`}
                      onSelect={go(visit.to)}
                      aside={<span className="text-xs text-dim">{visit.kind}</span>}
                    >
                      {visit.name}
                    </Item>
                  ))}
                </Command.Group>
              )}
              {groups.map(({ heading, icon, items }) => (
                <Command.Group key={heading} heading={heading} className={groupClass}>
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
                </Command.Group>
              ))}
              {commands.map(({ heading, items }) => (
                <Command.Group key={heading} heading={heading} className={groupClass}>
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
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </D.Content>
      </D.Portal>
    </D.Root>
  );
}

interface ActionsProps {
  verb: Verb;
  rest: string;
  onDelete: (instance: Instance) => void;
  onDone: () => void;
  onChoice: (value: string) => void;
}

/** What a verb and the beginning of a name may mean: the verb on each instance that is found, or why it cannot be. */
function Actions({ verb, rest, onDelete, onDone, onChoice }: ActionsProps) {
  const { query } = useScope();
  const navigate = useNavigate();
  const { run, reason } = useInstanceActions();
  const q = useDebounced(rest, 120);
  const found = useList<Instance>('instances', { ...query, limit: 8, q });
  const act = (instance: Instance) => () => {
    if (verb.action === 'delete') return onDelete(instance);
    onDone();
    if (verb.action === 'console') void navigate(`/instances/${instance.id}?tab=console`);
    else run([instance], verb.action satisfies PowerVerb);
  };
  const possible = found.items.find((i) => reason([i], verb.action) === null);
  const best = possible === undefined ? '' : `${verb.action} ${possible.id}`;
  useEffect(() => {
    if (best !== '') onChoice(best);
  }, [best, onChoice]);
  if (found.items.length === 0) return null;
  return (
    <Command.Group heading="Actions" className={groupClass}>
      {found.items.map((i) => (
        <Item
          key={i.id}
          icon={verb.icon}
          value={`${verb.action} ${i.id}`}
          reason={reason([i], verb.action)}
          onSelect={act(i)}
          aside={<StateBadge state={i.state} />}
        >
          {verb.label} {i.name}
          {verb.action === 'delete' && '…'}
        </Item>
      ))}
    </Command.Group>
  );
}
