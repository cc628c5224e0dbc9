import { session } from './session';
import { Store } from './store';

/** Something that was opened: its page, and what to call it. */
export interface Visit {
  to: string;
  kind: string;
  name: string;
}

const most = 8;
const key = 'vcs.recent';

const read = (): readonly Visit[] => {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]');
    return Array.isArray(stored) ? (stored as Visit[]).slice(0, most) : [];
  } catch {
    return [];
  }
};

/** What this tab opened last, newest first. It goes with the session: names of one user are nothing to the next. */
export const recent = new Store<readonly Visit[]>(read());

const keep = (visits: readonly Visit[]): void => {
  recent.set(visits);
  try {
    sessionStorage.setItem(key, JSON.stringify(visits));
  } catch {
    // Storage is blocked: it lives as long as the page.
  }
};

export const visited = (visit: Visit): void =>
  keep([visit, ...recent.get().filter((old) => old.to !== visit.to)].slice(0, most));

session.subscribe(() => {
  if (session.get() === null) keep([]);
});
