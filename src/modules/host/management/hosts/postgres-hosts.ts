import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import type { Op } from '../../../../core/db/rows/op';
import type { HostConfig } from '../../contract/host.config';
import { Hosts, type SchedulableHost } from '../../contract/host.ports';
import { capacityOf } from './host-capacity';
import { HostRepository, type HostFacts } from './host.repository';

const maxKnown = 10_000;

/** Hosts as other modules see them. */
@injectable()
export class PostgresHosts extends Hosts {
  private readonly known = new Map<string, string>();

  constructor(
    private readonly hosts: HostRepository,
    private readonly config: Config,
  ) {
    super();
  }

  async all(op: Op): Promise<SchedulableHost[]> {
    return (await this.hosts.all(op)).map((host) => this.schedulable(host));
  }

  async byId(op: Op, id: string): Promise<SchedulableHost | undefined> {
    const host = await this.hosts.candidate(op, id);
    return host && this.schedulable(host);
  }

  private schedulable(host: HostFacts): SchedulableHost {
    const { id, name, address, state, schedulable, reason, architecture, parts, revisions, stores, nodes } = host;
    const capacity = capacityOf(host, this.config.section<HostConfig>('host'));
    // What is kept for the host itself is kept of each node.
    const left = host.memoryBytes > 0 ? capacity.memoryBytes / host.memoryBytes : 0;
    return {
      id,
      name,
      address,
      state,
      schedulable,
      reason,
      architecture,
      parts,
      stores,
      nodes: nodes.map((node) => ({ ...node, memoryBytes: Math.floor(node.memoryBytes * left) })),
      verbs: revisions?.verbs ?? null,
      ...capacity,
    };
  }

  /** A host never changes its name, so each is read once. */
  async names(op: Op, ids: string[]): Promise<Map<string, string>> {
    const unknown = ids.filter((id) => !this.known.has(id));
    if (unknown.length > 0) {
      if (this.known.size > maxKnown) this.known.clear();
      for (const [id, name] of await this.hosts.names(op, unknown)) this.known.set(id, name);
    }
    return new Map(
      ids
        .flatMap((id) => [[id, this.known.get(id)] as const])
        .filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }
}
