import { forbidden, notFound } from '../errors/problem';
import type { Permission } from './permissions/permissions';
import type { Principal } from './principal';

/** The caller's reach for the route's permission. Services take it with every project-scoped call. */
export class Access {
  private readonly passed = new Set<string | null>();

  constructor(
    readonly principal: Principal,
    readonly permission: Permission,
    /** Projects in which the caller holds the route's permission. Lists filter by this in SQL. */
    readonly projects: 'all' | readonly string[],
  ) {}

  /** True when the caller is a member of the project (in any role) or a system admin. */
  sees(projectId: string): boolean {
    return (
      this.principal.systemRoles.includes('admin') || this.principal.memberships.some((m) => m.projectId === projectId)
    );
  }

  /**
   * The projects (null: the system) that `assert` has passed: what this request was granted, to be asked again when it
   * lasts or is repeated.
   */
  get asserted(): readonly (string | null)[] {
    return [...this.passed];
  }

  /** True when the route's permission holds in the project; null stands for what belongs to none. */
  allows(projectId: string | null): boolean {
    return this.projects === 'all' || (projectId !== null && this.projects.includes(projectId));
  }

  /** Passes when allowed; 403 when the caller sees the project but lacks the permission; 404 as if absent otherwise. */
  assert(projectId: string | null, noun: string, ref: string): void {
    if (this.allows(projectId)) {
      this.passed.add(projectId);
      return;
    }
    if (projectId !== null && this.sees(projectId)) throw forbidden(this.permission);
    throw notFound(noun, ref);
  }
}
