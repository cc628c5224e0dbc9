import { Problem } from '../../../core/errors/problem';
import type { HostVerdict } from './scheduler.ports';

/** What finds no place. */
type Placed = 'instance' | 'volume';

const noRoom: Record<Placed, string> = {
  instance: 'There is no room for this instance at the moment. Choose a smaller flavor, or ask an administrator.',
  volume: 'There is no room for this volume at the moment. Choose a smaller size, or ask an administrator.',
};

const forTenants = (verdicts: readonly HostVerdict[], what: Placed): string => {
  // What a user can do something about, when it is the same for all hosts.
  const [first, ...others] = new Set(verdicts.map((v) => v.code));
  return (first !== undefined && others.length === 0 ? verdicts[0]?.saying : undefined) ?? noRoom[what];
};

const forOperators = (verdicts: readonly HostVerdict[], what: Placed): string => {
  if (verdicts.length === 0) return 'There is no host yet. Add one with `vcctl host token create`.';
  const shown = verdicts.slice(0, 5).map((v) => `${v.host}: ${v.reason}`);
  const more = verdicts.length > shown.length ? `; and ${verdicts.length - shown.length} more` : '';
  return `No host can hold this ${what}. ${shown.join('; ')}${more}.`;
};

/**
 * 409 `no_host`. Tenants learn neither hosts nor what is free on them; operators get the reason per host, also in
 * `hosts`.
 */
export class PlacementRefusal extends Problem {
  constructor(verdicts: readonly HostVerdict[], operator = false, what: Placed = 'instance') {
    super({
      status: 409,
      code: 'no_host',
      detail: operator ? forOperators(verdicts, what) : forTenants(verdicts, what),
      extra: operator ? { hosts: verdicts.map(({ host, code, reason }) => ({ host, code, reason })) } : {},
      // A task keeps it for operators.
      ...(!operator && { cause: forOperators(verdicts, what) }),
    });
  }
}
