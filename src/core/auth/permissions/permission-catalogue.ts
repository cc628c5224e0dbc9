import { Access } from '../access';
import { tokenAllows, type Permission } from './permissions';
import { projectRoles, type Principal, type ProjectRole } from '../principal';

/**
 * Who holds a permission: `everyone` for what is the caller's own or open to every user (routes of scope `self`), a
 * role of a project and every wider one, or system administrators alone.
 */
export type Holder = 'everyone' | ProjectRole | 'admin';

export type PermissionTable = Readonly<Record<Permission, Holder>>;

/**
 * The permissions that there are, and what the built-in roles have of them: all that modules declare, and nothing else.
 * What nobody declared, nobody but an administrator has.
 */
export class PermissionCatalogue {
  private readonly holders: ReadonlyMap<string, Holder>;

  constructor(table: PermissionTable) {
    this.holders = new Map(Object.entries(table));
  }

  /** All, sorted. */
  all(): string[] {
    return [...this.holders.keys()].sort();
  }

  has(permission: Permission): boolean {
    return this.holders.has(permission);
  }

  /** True for a permission, or a pattern (`*` for noun, verb or both) that covers at least one. */
  knows(scope: string): boolean {
    const [noun, verb] = scope.split(':');
    return [...this.holders.keys()].some((permission) => {
      const [knownNoun, knownVerb] = permission.split(':');
      return (noun === '*' || noun === knownNoun) && (verb === '*' || verb === knownVerb);
    });
  }

  /** True when the built-in role has the permission inside its project. */
  roleAllows(role: ProjectRole, permission: Permission): boolean {
    const narrowest = projectRoles.indexOf(this.holders.get(permission) as ProjectRole);
    return narrowest >= 0 && projectRoles.indexOf(role) <= narrowest;
  }

  /** Nouns of which the built-in role has the permission `<noun>:<verb>`. */
  nounsOf(role: ProjectRole, verb: string): string[] {
    return [...this.holders.keys()].flatMap((permission) => {
      const [noun = '', its] = permission.split(':');
      return its === verb && this.roleAllows(role, `${noun}:${verb}`) ? [noun] : [];
    });
  }

  /** The projects in which the principal holds `permission`; `all` for system admins. */
  allowedProjects(principal: Principal, permission: Permission): 'all' | string[] {
    if (!tokenAllows(principal, permission)) return [];
    if (principal.systemRoles.includes('admin')) return 'all';
    return principal.memberships.filter((m) => this.roleAllows(m.role, permission)).map((m) => m.projectId);
  }

  /** The caller's reach for a permission. @param only narrows it to this project (`?project=`) */
  access(principal: Principal, permission: Permission, only?: string): Access {
    const allowed = this.allowedProjects(principal, permission);
    const reach = only === undefined ? allowed : allowed === 'all' || allowed.includes(only) ? [only] : [];
    return new Access(principal, permission, reach);
  }
}
