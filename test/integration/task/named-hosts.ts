import type { Op } from '../../../src/core/db/rows/op';
import { Hosts } from '../../../src/modules/host/contract/host.ports';
import { hostA } from '../../support/workflow-harness';

/** One host that has a name. */
export class NamedHosts extends Hosts {
  override async all(): Promise<never[]> {
    return [];
  }
  override async byId(): Promise<undefined> {
    return undefined;
  }
  override async names(_op: Op, ids: string[]): Promise<Map<string, string>> {
    return new Map(ids.filter((id) => id === hostA).map((id) => [id, 'alpha-host']));
  }
}
