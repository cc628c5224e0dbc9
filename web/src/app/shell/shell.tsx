import { BookOpen, Menu as MenuIcon, Monitor, Moon, Search, Sun, User, LogOut, Keyboard, X } from 'lucide-react';
import { Dialog as D } from 'radix-ui';
import { useEffect, useState, type CSSProperties } from 'react';
import { NavLink, Outlet, useLocation, useNavigate } from 'react-router';
import { logout } from '../../lib/session';
import { reachability } from '../../lib/reachability';
import { useStore } from '../../lib/store';
import { chooseTheme, currentTheme, type Theme } from '../../lib/theme';
import { cx } from '../../ui/cx';
import { useInvalidShown } from '../../ui/forms/form-problem';
import { lazyPart } from '../../ui/lazy-part';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../../ui/menu';
import { ConnectionState } from './connection-state';
import { ErrorBoundary } from './error-boundary';
import { useFeatures } from '../use-features';
import { OfflineBanner } from './offline-banner';
import { ProjectSwitcher } from './project-switcher';
import { RunningTasks } from './running-tasks';
import { useScope } from '../scope';
import { helpOpen, paletteOpen, useShortcuts } from './shortcuts';
import { ShortcutsDialog } from './shortcuts-dialog';
import { openedTask } from '../../features/tasks/open-task';
import { TaskDrawer } from '../../features/tasks/task-drawer';

const Palette = lazyPart(() => import('../palette/palette'), null);

function Brand() {
  return (
    <div className="flex items-center gap-2.5 px-2">
      <svg aria-hidden viewBox="0 0 32 32" className="size-6">
        <rect width="32" height="32" rx="7" className="fill-accent" />
        <path
          d="M16 6.500 25 11l-9 4.500L7 11zM7 16l9 4.500L25 16M7 21l9 4.500L25 21"
          fill="none"
          stroke="#fff"
          strokeWidth="2.4"
          strokeLinejoin="round"
          strokeLinecap="round"
        />
      </svg>
      <span className="font-semibold tracking-tight">VC Stack</span>
    </div>
  );
}

function Sidebar() {
  const { admin } = useScope();
  const { navGroups } = useFeatures();
  return (
    <div className="flex h-full flex-col gap-4 overflow-y-auto px-3 py-4">
      <Brand />
      <ProjectSwitcher />
      <nav aria-label="Main" className="flex-1 space-y-4">
        {navGroups.map((group) => (
          <div key={group.label ?? ''}>
            {group.label !== null && <h2 className="px-2 pb-1 text-xs font-medium text-dim">{group.label}</h2>}
            <ul className="space-y-px">
              {group.items
                .filter((item) => admin || item.adminOnly !== true)
                .map((item) => (
                  <li key={item.to}>
                    <NavLink
                      to={item.to}
                      end={item.to === '/'}
                      className={({ isActive }) =>
                        cx(
                          'flex h-8 items-center gap-2.5 rounded-md px-2 text-sm transition-colors',
                          isActive
                            ? 'bg-idle-soft font-medium text-ink'
                            : 'text-dim hover:bg-idle-soft/60 hover:text-ink',
                        )
                      }
                    >
                      <item.icon aria-hidden className="size-4 shrink-0" />
                      {item.label}
                    </NavLink>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      </nav>
      <a
        href="/api/docs"
        target="_blank"
        rel="noreferrer"
        className="flex h-8 items-center gap-2.5 rounded-md px-2 text-sm text-dim hover:bg-idle-soft/60 hover:text-ink"
      >
        <BookOpen aria-hidden className="size-4" />
        API reference
        <span className="sr-only">(opens a new tab)</span>
      </a>
    </div>
  );
}

const themes: { value: Theme; label: string; icon: typeof Sun }[] = [
  { value: 'system', label: 'Follow the system', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
];
const iconButton = 'grid size-8 place-items-center rounded-md text-dim hover:bg-sunken hover:text-ink';

function ThemeMenu() {
  const [theme, setTheme] = useState(currentTheme);
  return (
    <Menu
      trigger={
        <button type="button" aria-label="Theme" className={iconButton}>
          <Sun aria-hidden className="size-4 dark:hidden" />
          <Moon aria-hidden className="hidden size-4 dark:block" />
        </button>
      }
    >
      {themes.map((t) => (
        <MenuItem
          key={t.value}
          icon={t.icon}
          checked={theme === t.value}
          onSelect={() => {
            chooseTheme(t.value);
            setTheme(t.value);
          }}
        >
          {t.label}
        </MenuItem>
      ))}
    </Menu>
  );
}

function UserMenu() {
  const { me, admin } = useScope();
  const navigate = useNavigate();
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`Account of ${me.user.name}`}
          data-initials={me.user.name.slice(0, 2)}
          className="grid size-8 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent-text uppercase hover:ring-2 hover:ring-accent/30 before:content-[attr(data-initials)]"
        />
      }
    >
      <MenuLabel>
        {me.user.name}
        {admin && ' · administrator'}
      </MenuLabel>
      <MenuItem icon={User} onSelect={() => void navigate('/account')}>
        Account and API tokens
      </MenuItem>
      <MenuItem icon={Keyboard} onSelect={() => helpOpen.set(true)}>
        Keyboard shortcuts
      </MenuItem>
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={() => void logout()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

/** The frame around every page: navigation, search, state of the connection, running tasks. */
export function Shell() {
  const { admin } = useScope();
  const { pathname } = useLocation();
  const [navOpen, setNavOpen] = useState(false);
  const palette = useStore(paletteOpen);
  const drawer = useStore(openedTask) !== null;
  // Where headings of lists stick: below the bar, and below the banner when there is one.
  const stick = { '--stick': useStore(reachability.state).up ? '3.25rem' : '6.1rem' } as CSSProperties;
  useInvalidShown();
  useShortcuts(admin);
  useEffect(() => setNavOpen(false), [pathname]);
  return (
    <div className="flex min-h-dvh" style={stick}>
      <a
        href="#content"
        className="sr-only z-80 rounded-md bg-ink px-3 py-2 text-sm text-canvas focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh w-58 shrink-0 border-r border-line bg-side lg:block">
        <Sidebar />
      </aside>
      <D.Root open={navOpen} onOpenChange={setNavOpen}>
        <D.Portal>
          <D.Overlay className="fixed inset-0 z-40 bg-shade lg:hidden" />
          <D.Content
            aria-describedby={undefined}
            className="fixed inset-y-0 left-0 z-50 w-64 bg-side shadow-float lg:hidden"
          >
            <D.Title className="sr-only">Navigation</D.Title>
            <D.Close
              aria-label="Close navigation"
              className="absolute top-3.5 right-2 rounded-md p-1.5 text-dim hover:bg-idle-soft"
            >
              <X aria-hidden className="size-4" />
            </D.Close>
            <Sidebar />
          </D.Content>
        </D.Portal>
      </D.Root>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="sticky top-0 z-20 flex h-13 items-center gap-2 border-b border-line bg-canvas/90 px-3 backdrop-blur sm:px-7">
          <button
            type="button"
            aria-label="Open navigation"
            onClick={() => setNavOpen(true)}
            className={cx(iconButton, 'lg:hidden')}
          >
            <MenuIcon aria-hidden className="size-4.5" />
          </button>
          <button
            type="button"
            onClick={() => paletteOpen.set(true)}
            className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded-md border border-line bg-sunken/60 px-2.5 text-sm text-dim hover:border-line-strong sm:max-w-72"
          >
            <Search aria-hidden className="size-3.5 shrink-0" />
            <span className="flex-1 truncate text-left">Search or run a command</span>
            <kbd className="hidden rounded border border-line bg-raised px-1 font-sans text-xs sm:block">Ctrl K</kbd>
          </button>
          <div className="ml-auto flex items-center gap-1">
            <ConnectionState />
            <RunningTasks />
            <ThemeMenu />
            <UserMenu />
          </div>
        </header>
        <OfflineBanner />
        <main id="content" tabIndex={-1} className={cx('min-w-0 flex-1 outline-none', drawer && 'min-[1440px]:pr-105')}>
          <ErrorBoundary key={pathname}>
            <Outlet />
          </ErrorBoundary>
        </main>
      </div>
      <TaskDrawer />
      <ShortcutsDialog />
      {palette && <Palette />}
    </div>
  );
}
