import { injectable } from 'inversify';
import type { Permission } from './permissions';

/** The permissions that the mounted routes ask for: what may stand in a token's scopes. */
@injectable()
export class KnownPermissions {
  private readonly permissions = new Set<string>();

  add(permission: Permission): void {
    this.permissions.add(permission);
  }

  /** All, sorted. */
  all(): string[] {
    return [...this.permissions].sort();
  }

  /** True for a permission, or a pattern (`*` for noun, verb or both) that covers at least one. */
  knows(scope: string): boolean {
    const [noun, verb] = scope.split(':');
    return this.all().some((permission) => {
      const [knownNoun, knownVerb] = permission.split(':');
      return (noun === '*' || noun === knownNoun) && (verb === '*' || verb === knownVerb);
    });
  }
}
