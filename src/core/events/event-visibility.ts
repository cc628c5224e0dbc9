import { allowedProjects, tokenAllows, type Permission } from '../auth/permissions';
import type { Principal } from '../auth/principal';
import type { LiveEvent } from './outbox';

/** Rooms that an event goes to: whoever is in one of them may see it. */
export const roomsOfEvent = ({ projectId, everyone, subject: { kind } }: Pick<LiveEvent, 'projectId' | 'everyone' | 'subject'>): string[] =>
  ['admins', ...(projectId === null ? [] : [`project:${projectId}`]), ...(everyone === true ? ['everyone'] : [])].flatMap((room) => [room, `${room}:${kind}`]);

/**
 * Rooms that a caller is in: its projects, or all for admins, and that of everyone. An API token with a list of its own is in the rooms of the nouns
 * that it may read.
 */
export const roomsOfPrincipal = (principal: Principal): string[] => {
  if (principal.tokenScopes === null || tokenAllows(principal, 'any:read') || tokenAllows(principal, 'any:any')) {
    return principal.systemRoles.includes('admin') ? ['admins'] : ['everyone', ...principal.memberships.map((m) => `project:${m.projectId}`)];
  }
  const nouns = new Set(principal.tokenScopes.map((scope) => scope.split(':')[0] ?? '').filter((noun) => /^[a-z][a-z-]*$/.test(noun)));
  return [...nouns].flatMap((noun) => {
    const permission: Permission = `${noun}:read`;
    if (!tokenAllows(principal, permission)) return [];
    const projects = allowedProjects(principal, permission);
    return projects === 'all' ? [`admins:${noun}`] : ['everyone', ...projects.map((id) => `project:${id}`)].map((room) => `${room}:${noun}`);
  });
};
