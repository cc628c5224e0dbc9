import { Problem } from '../../../core/errors/problem';
import type { HostVerdict } from './scheduler.ports';

/** 409 `no_host` with the reason per host in `hosts`. */
export class PlacementRefusal extends Problem {
  constructor(verdicts: HostVerdict[]) {
    const shown = verdicts.slice(0, 5).map((v) => `${v.host}: ${v.reason}`);
    const more = verdicts.length > shown.length ? `; and ${verdicts.length - shown.length} more` : '';
    super({
      status: 409,
      code: 'no_host',
      detail: verdicts.length === 0 ? 'There is no host yet. Add one with `vcctl host token create`.' : `No host can hold this instance. ${shown.join('; ')}${more}.`,
      extra: { hosts: verdicts.map(({ host, code, reason }) => ({ host, code, reason })) },
    });
  }
}
