import { Command } from 'cmdk';
import { BookOpen, Box, Keyboard, KeyRound, LogOut, Moon, Plus, Sun, type LucideIcon } from 'lucide-react';
import { Dialog as D } from 'radix-ui';
import { useEffect, useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { useDebounced, useList } from '../lib/queries';
import { logout } from '../lib/session';
import { chooseTheme } from '../lib/theme';
import type { Instance } from '../lib/types';
import { StateBadge } from '../ui/state';
import { navItems } from './nav';
import { useScope } from './scope';
import { helpOpen, paletteOpen } from './shortcuts';

const itemClass = 'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm data-[selected=true]:bg-sunken';
const groupClass = '[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-dim';

function Item({ icon: Icon, value, onSelect, children, aside }: { icon: LucideIcon; value: string; onSelect: () => void; children: ReactNode; aside?: ReactNode }) {
  return (
    <Command.Item value={value} onSelect={onSelect} className={itemClass}>
      <Icon aria-hidden className="size-4 shrink-0 text-dim" />
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {aside}
    </Command.Item>
  );
}

const valueOf = (instance: Instance): string => `${instance.name} ${instance.id}`;

/** Ctrl+K: go anywhere, create anything, open an instance by name. A chunk of its own, loaded when first opened. */
export default function Palette() {
  const { admin, query, readOnly } = useScope();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const name = useDebounced(text.trim(), 120);
  const instances = useList<Instance>('instances', { ...query, limit: 8, name }, name !== '');
  const close = (): void => paletteOpen.set(false);
  // An instance that was found is the first choice.
  const [chosen, choose] = useState('');
  const first = instances.items[0];
  const best = name !== '' && first !== undefined ? valueOf(first) : '';
  useEffect(() => {
    if (best !== '') choose(best);
  }, [best]);
  const go = (to: string) => () => {
    close();
    void navigate(to);
  };
  const creates: [string, string][] =
    readOnly !== null
      ? []
      : [
          ['New instance', '/instances/new'],
          ['Add image', '/images?new=1'],
          ['New network', '/networks?new=1'],
          ['Add SSH key', '/ssh-keys?new=1'],
        ];
  if (admin) creates.push(['New flavor', '/flavors?new=1'], ['Add host', '/hosts?new=1'], ['New project', '/projects?new=1']);

  return (
    <D.Root open onOpenChange={(open) => !open && close()}>
      <D.Portal>
        <D.Overlay className="fixed inset-0 z-40 bg-shade" />
        <D.Content aria-describedby={undefined} className="fixed inset-x-3 top-[10vh] z-50 mx-auto max-w-xl animate-appear overflow-hidden rounded-xl bg-raised shadow-float">
          <D.Title className="sr-only">Search and commands</D.Title>
          <Command label="Search and commands" loop value={chosen} onValueChange={choose}>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Go to, create, or find an instance…"
              className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none"
            />
            <Command.List className="max-h-[min(26rem,60vh)] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-8 text-center text-sm text-dim">{name !== text.trim() || instances.isFetching ? 'Searching…' : 'Nothing of that name.'}</Command.Empty>
              {name !== '' && instances.items.length > 0 && (
                <Command.Group heading="Instances" className={groupClass}>
                  {instances.items.map((i) => (
                    <Item key={i.id} icon={Box} value={valueOf(i)} onSelect={go(`/instances/${i.id}`)} aside={<StateBadge state={i.state} />}>
                      {i.name}
                    </Item>
                  ))}
                </Command.Group>
              )}
              <Command.Group heading="Go to" className={groupClass}>
                {navItems(admin).map((n) => (
                  <Item key={n.to} icon={n.icon} value={`go to ${n.label}`} onSelect={go(n.to)} {...(n.key === undefined ? {} : { aside: <span className="text-xs text-dim">g {n.key}</span> })}>
                    {n.label}
                  </Item>
                ))}
                <Item icon={KeyRound} value="go to account api tokens password" onSelect={go('/account')}>
                  Account and API tokens
                </Item>
              </Command.Group>
              {creates.length > 0 && (
                <Command.Group heading="Create" className={groupClass}>
                  {creates.map(([label, to]) => (
                    <Item key={to} icon={Plus} value={`create ${label}`} onSelect={go(to)}>
                      {label}
                    </Item>
                  ))}
                </Command.Group>
              )}
              <Command.Group heading="More" className={groupClass}>
                <Item icon={Sun} value="theme light" onSelect={() => (chooseTheme('light'), close())}>
                  Light theme
                </Item>
                <Item icon={Moon} value="theme dark" onSelect={() => (chooseTheme('dark'), close())}>
                  Dark theme
                </Item>
                <Item icon={Keyboard} value="keyboard shortcuts help" onSelect={() => (close(), helpOpen.set(true))}>
                  Keyboard shortcuts
                </Item>
                <Item icon={BookOpen} value="api documentation reference" onSelect={() => (close(), window.open('/api/docs', '_blank', 'noopener'))}>
                  API reference
                </Item>
                <Item icon={LogOut} value="sign out log out" onSelect={() => (close(), void logout())}>
                  Sign out
                </Item>
              </Command.Group>
            </Command.List>
          </Command>
        </D.Content>
      </D.Portal>
    </D.Root>
  );
}
