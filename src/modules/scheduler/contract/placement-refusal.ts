import { Problem } from '../../../core/errors/problem';
import type { HostVerdict } from './scheduler.ports';

const noRoom = 'There is no room for this instance at the moment. Choose a smaller flavor, or ask an administrator.';

const forTenants = (verdicts: readonly HostVerdict[]): string => {
  // What a user can do something about, when it is the same for all hosts.
  const [first, ...others] = new Set(verdicts.map((v) => v.code));
  return (first !== undefined && others.length === 0 ? verdicts[0]?.saying : undefined) ?? noRoom;
};

const forOperators = (verdicts: readonly HostVerdict[]): string => {
  if (verdicts.length === 0) return 'There is no host yet. Add one with `vcctl host token create`.';
  const shown = verdicts.slice(0, 5).map((v) => `${v.host}: ${v.reason}`);
  const more = verdicts.length > shown.length ? `; and ${verdicts.length - shown.length} more` : '';
  return `No host can hold this instance. ${shown.join('; ')}${more}.`;
};

/**
 * 409 `no_host`. Tenants learn neither hosts nor what is free on them; operators get the reason per host, also in
 * `hosts`.
 */
export class PlacementRefusal extends Problem {
  constructor(verdicts: readonly HostVerdict[], operator = false) {
    super({
      status: 409,
      code: 'no_host',
      detail: operator ? forOperators(verdicts) : forTenants(verdicts),
      extra: operator ? { hosts: verdicts.map(({ host, code, reason }) => ({ host, code, reason })) } : {},
      // A task keeps it for operators.
      ...(!operator && { cause: forOperators(verdicts) }),
    });
  }
}
