import type { Principal, ProjectRole } from './principal';

/** `<noun>:<verb>`, e.g. `instance:create`. Nouns are those of the REST paths in the singular. */
export type Permission = `${string}:${string}`;

/**
 * What each built-in project role may do inside its project. `*` stands for any verb or noun. Everything else needs the
 * system role admin.
 */
const viewer = [
  'instance:read',
  'network:read',
  'port:read',
  'image:read',
  'volume:read',
  'ssh-key:read',
  'task:read',
  'project:read',
  'member:read',
] as const;
const member = [...viewer, 'instance:*', 'network:*', 'image:*', 'volume:*', 'ssh-key:*', 'task:*'] as const;
export const rolePermissions: Record<ProjectRole, readonly string[]> = {
  viewer,
  member,
  'project-admin': [...member, 'project:update', 'member:*'],
};

const covers = (pattern: string, permission: Permission): boolean => {
  const [noun, verb] = permission.split(':');
  const [patternNoun, patternVerb] = pattern.split(':');
  return (
    pattern === '*' || ((patternNoun === '*' || patternNoun === noun) && (patternVerb === '*' || patternVerb === verb))
  );
};

/** True unless the principal came by an API token whose own list lacks `permission`. */
export const tokenAllows = (principal: Principal, permission: Permission): boolean =>
  principal.tokenScopes === null || principal.tokenScopes.some((scope) => covers(scope, permission));

/** True when the built-in role has the permission inside its project. */
export const roleAllows = (role: ProjectRole, permission: Permission): boolean =>
  rolePermissions[role].some((pattern) => covers(pattern, permission));

/** True when the principal holds `permission` everywhere (system role). */
export const allowedGlobally = (principal: Principal, permission: Permission): boolean =>
  tokenAllows(principal, permission) && principal.systemRoles.includes('admin');

/**
 * True when the principal may know which hosts there are, what runs where and how much room is left: administrators,
 * not tenants.
 */
export const seesHosts = (principal: Principal): boolean => allowedGlobally(principal, 'host:read');

/** The projects in which the principal holds `permission`; `all` for system admins. */
export const allowedProjects = (principal: Principal, permission: Permission): 'all' | string[] => {
  if (!tokenAllows(principal, permission)) return [];
  if (principal.systemRoles.includes('admin')) return 'all';
  return principal.memberships.filter((m) => roleAllows(m.role, permission)).map((m) => m.projectId);
};
