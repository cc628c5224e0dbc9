import { allowedGlobally, allowedProjects, tokenAllows, type Permission } from '../auth/permissions';
import type { Principal } from '../auth/principal';
import type { LiveEvent } from './outbox';

/** Rooms that an event goes to: whoever is in one of them may see it. */
export const roomsOfEvent = ({ projectId, subject: { kind } }: Pick<LiveEvent, 'projectId' | 'subject'>): string[] =>
  projectId === null ? ['admins', `admins:${kind}`] : ['admins', `admins:${kind}`, `project:${projectId}`, `project:${projectId}:${kind}`];

/**
 * Rooms that a caller is in: its projects, or all for admins. An API token with a list of its own is in the rooms of the nouns that it may read.
 */
export const roomsOfPrincipal = (principal: Principal): string[] => {
  if (principal.tokenScopes === null || tokenAllows(principal, 'any:read') || tokenAllows(principal, 'any:any')) {
    return principal.systemRoles.includes('admin') ? ['admins'] : principal.memberships.map((m) => `project:${m.projectId}`);
  }
  const nouns = new Set(principal.tokenScopes.map((scope) => scope.split(':')[0] ?? '').filter((noun) => /^[a-z][a-z-]*$/.test(noun)));
  return [...nouns].flatMap((noun) => {
    const permission: Permission = `${noun}:read`;
    if (allowedGlobally(principal, permission)) return [`admins:${noun}`];
    const projects = allowedProjects(principal, permission);
    return projects === 'all' ? [`admins:${noun}`] : projects.map((id) => `project:${id}:${noun}`);
  });
};
