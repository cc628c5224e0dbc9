import type { Access } from '../../auth/access';
import { ambiguousName, notFound } from '../../errors/problem';
import { looksLikeId } from './fields';

export interface RefLookup<T> {
  byId: (id: string) => Promise<T | null>;
  /** Objects of this name in these projects, at most two. */
  named: (projects: 'all' | readonly string[], name: string) => Promise<T[]>;
}

/**
 * The one project-owned object that `ref` (id or name) means for this caller, permission checked.
 * 404 when there is none that it sees, 403 when it sees it but may not, 409 `ambiguous_name` when a name means several.
 */
export const pickByRef = async <T extends { projectId: string }>(
  noun: string,
  ref: string,
  projectId: string | undefined,
  access: Access,
  lookup: RefLookup<T>,
): Promise<T> => {
  if (looksLikeId(ref)) {
    const found = await lookup.byId(ref.toLowerCase());
    if (!found) throw notFound(noun, ref);
    access.assert(found.projectId, noun, ref);
    return found;
  }
  const seen = access.principal.systemRoles.includes('admin')
    ? 'all'
    : access.principal.memberships.map((m) => m.projectId);
  const found = await lookup.named(projectId === undefined ? seen : [projectId], ref);
  const [first, second] = found;
  if (!first) throw notFound(noun, ref);
  if (second) throw ambiguousName(noun, ref);
  access.assert(first.projectId, noun, ref);
  return first;
};
