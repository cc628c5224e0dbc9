import { useQuery } from '@tanstack/react-query';
import { createContext, useContext, useMemo, useState, type ReactNode } from 'react';
import { api } from '../lib/api';
import type { ProjectRole, Whoami } from '../lib/types';

type Role = ProjectRole | 'admin';

export interface Scope {
  me: Whoami;
  admin: boolean;
  projects: { id: string; name: string; role: Role }[];
  /** The chosen project; null means all that the user sees. */
  project: { id: string; name: string; role: Role } | null;
  choose: (projectId: string | null) => void;
  /** For list requests. */
  query: { project?: string };
  /** Why nothing can be changed here, or null. */
  readOnly: string | null;
  /** The role in an object's own project. */
  reasonFor: (projectId: string) => string | null;
  /** Whether what only project admins may be asked for in that project. */
  manages: (projectId: string) => boolean;
  projectName: (projectId: string) => string;
}

const Context = createContext<Scope | null>(null);
const key = 'vcs.project';
const viewerReason = 'Your role in this project is viewer, which may look but not change.';

const stored = (): string | null => {
  try {
    return sessionStorage.getItem(key) ?? localStorage.getItem(key);
  } catch {
    return null;
  }
};

const remember = (id: string): void => {
  try {
    sessionStorage.setItem(key, id);
    localStorage.setItem(key, id);
  } catch {
    // Storage is blocked: the choice lives as long as the page.
  }
};

/** Gives every page the identity, the chosen project and what the role allows. */
export function ScopeProvider({ me, children }: { me: Whoami; children: ReactNode }) {
  const [chosen, setChosen] = useState(stored);
  const admin = me.user.admin;
  const all = useQuery({
    queryKey: ['projects', 'all'],
    queryFn: ({ signal }) => api.get('/projects', { query: { limit: 500 }, signal }),
    enabled: admin,
  });

  const scope = useMemo<Scope>(() => {
    const roles = new Map(me.projects.map((p) => [p.id, p.role]));
    const known =
      admin && all.data !== undefined
        ? all.data.items.map((p) => ({ id: p.id, name: p.name, role: roles.get(p.id) ?? ('admin' as const) }))
        : me.projects;
    const projects = [...known].sort((a, b) => a.name.localeCompare(b.name));
    const single = projects.length === 1 ? projects[0] : undefined;
    const project = projects.find((p) => p.id === chosen) ?? single ?? null;
    const roleIn = (id: string): Role | undefined => (admin ? 'admin' : roles.get(id));
    return {
      me,
      admin,
      projects,
      project,
      choose: (id) => {
        remember(id ?? 'all');
        setChosen(id);
      },
      query: project === null ? {} : { project: project.id },
      readOnly:
        projects.length === 0
          ? 'You are in no project yet. Ask an administrator to add you to one.'
          : admin || (project === null ? projects.some((p) => p.role !== 'viewer') : project.role !== 'viewer')
            ? null
            : viewerReason,
      reasonFor: (id) => (roleIn(id) === 'viewer' ? viewerReason : null),
      manages: (id) => roleIn(id) === 'admin' || roleIn(id) === 'project-admin',
      projectName: (id) => projects.find((p) => p.id === id)?.name ?? id.slice(0, 8),
    };
  }, [me, admin, all.data, chosen]);

  return <Context value={scope}>{children}</Context>;
}

export const useScope = (): Scope => {
  const scope = useContext(Context);
  if (scope === null) throw new Error('useScope outside ScopeProvider');
  return scope;
};
