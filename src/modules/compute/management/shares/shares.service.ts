import { injectable } from 'inversify';
import type { Principal } from '../../../../core/auth/principal';
import type { Op } from '../../../../core/db/rows/op';
import { unprocessable } from '../../../../core/errors/problem';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Hosts, type SchedulableHost } from '../../../host/contract/host.ports';
import type { Share } from '../../contract/compute.api';
import type { AskedShare } from '../../contract/shares';
import type { KeptShare } from '../../contract/vmm.inventory';
import { sharesFor } from './share-needs';

interface Found {
  host: SchedulableHost;
  share: KeptShare;
}

/** The directories that projects are given, by what hosts report. Management has no list of its own. */
@injectable()
export class Shares {
  constructor(private readonly hosts: Hosts) {}

  /** By name; they are few, and those of the page before end with `cursor`. */
  async list(
    op: Op,
    projectId: string,
    viewer: Principal,
    { limit, cursor = '', q = '' }: PageRequest,
  ): Promise<Page<Share>> {
    const told = seesHosts(viewer);
    const rest = [...(await this.found(op, projectId))]
      .filter(([name]) => name > cursor && name.includes(q.toLowerCase()))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const items = rest.slice(0, limit).map(([name, all]) => ({
      name,
      readonly: all.every(({ share }) => share.readonly),
      hosts: told ? all.map(({ host, share }) => ({ id: host.id, name: host.name, readonly: share.readonly })) : null,
    }));
    return { items, next: rest.length > limit ? (items.at(-1)?.name ?? null) : null };
  }

  /** 422 `no_such_share`: the same for one that there is not, and one that is another project's. */
  async check(op: Op, projectId: string, asked: readonly AskedShare[]): Promise<void> {
    if (asked.length === 0) return;
    const found = await this.found(op, projectId);
    const index = asked.findIndex(({ share }) => !found.has(share));
    const missing = asked[index];
    if (missing)
      throw unprocessable(
        `body.shares.${index}.share`,
        'no_such_share',
        `The project has no share "${missing.share}".`,
      );
  }

  private async found(op: Op, projectId: string): Promise<Map<string, Found[]>> {
    const found = new Map<string, Found[]>();
    for (const host of await this.hosts.all(op))
      for (const share of sharesFor(host.parts, projectId))
        found.set(share.name, [...(found.get(share.name) ?? []), { host, share }]);
    return found;
  }
}
