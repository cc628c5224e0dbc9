import type { Principal } from '../principal';

/** `<noun>:<verb>`, e.g. `thing:create`. Nouns are those of the REST paths in the singular. */
export type Permission = `${string}:${string}`;

/** True when the pattern (`*` for noun, verb or both) covers the permission. */
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

/** True when the principal holds `permission` everywhere (system role). */
export const allowedGlobally = (principal: Principal, permission: Permission): boolean =>
  tokenAllows(principal, permission) && principal.systemRoles.includes('admin');
