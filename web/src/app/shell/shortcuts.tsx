import { useEffect, useRef } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { Store } from '../../lib/store';
import { useFeatures } from '../use-features';

export const paletteOpen = new Store(false);
export const helpOpen = new Store(false);

/** What `c` does on the present page; the page sets it while it shows. */
const creators: (() => void)[] = [];

/** Makes `c` do `create` while the page shows; null leaves the default (a new instance). */
export const useCreateShortcut = (create: (() => void) | null): void => {
  const latest = useRef(create);
  useEffect(() => {
    latest.current = create;
  });
  const active = create !== null;
  useEffect(() => {
    if (!active) return;
    const run = (): void => latest.current?.();
    creators.push(run);
    return () => {
      creators.splice(creators.indexOf(run), 1);
    };
  }, [active]);
};

/** How long `g` waits for its second key. Milliseconds. */
const chordMs = 1200;

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('input:not([type=checkbox],[type=radio]), textarea, select') ||
    target.closest('.xterm') !== null);

/** The console's keys. They rest while the user types, and while a dialog or menu is open. */
export const useShortcuts = (admin: boolean): void => {
  const navigate = useNavigate();
  const features = useFeatures();
  const location = useLocation();
  useEffect(() => {
    let chord = 0;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        if (event.target instanceof HTMLElement && event.target.closest('.xterm') !== null) return;
        event.preventDefault();
        paletteOpen.set(!paletteOpen.get());
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
      if (document.querySelector('[role=dialog][data-state=open], [role=menu]') !== null) return;
      const inChord = Date.now() - chord < chordMs;
      chord = 0;
      if (inChord) {
        const item = features.navItems(admin).find((n) => n.key === event.key);
        if (item !== undefined) {
          event.preventDefault();
          void navigate(item.to);
        }
        return;
      }
      if (event.key === 'g') chord = Date.now();
      else if (event.key === '?') helpOpen.set(true);
      else if (event.key === '/') {
        const filter = document.querySelector<HTMLInputElement>('[data-filter]');
        if (filter === null) paletteOpen.set(true);
        else {
          filter.focus();
          filter.select();
        }
      } else if (event.key === 'c') {
        const create = creators.at(-1);
        if (create === undefined) void navigate('/instances/new');
        else create();
      } else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, admin, features, location.pathname]);
};
