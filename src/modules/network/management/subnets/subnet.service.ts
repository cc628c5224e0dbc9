import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import { Config } from '../../../../core/config/config';
import type { Op } from '../../../../core/db/rows/op';
import { inUse, namedUsers } from '../../../../core/errors/in-use';
import { notFound } from '../../../../core/errors/problem';
import type { Page } from '../../../../core/http/routes/pagination';
import { pickByRef } from '../../../../core/http/routes/pick-by-ref';
import { parseSubnet, usableCount } from '../../contract/ipv4';
import type { NetworkConfig } from '../../contract/network.config';
import type { createSubnet, Subnet, subnetListQuery, updateSubnet } from '../../contract/subnet.api';
import { HostSync, type By } from '../hosts/host-sync.service';
import { NetworkEvents } from '../networks/network.events';
import { NetworkRepository } from '../networks/network.repository';
import { checkDns } from '../networks/subnet-rules';
import { RouterRepository } from '../routers/router.repository';
import { newSubnet } from './new-subnet';
import { SubnetRepository, type ShownSubnet } from './subnet.repository';

/** Subnets, for users. */
@injectable()
export class SubnetService {
  constructor(
    private readonly subnets: SubnetRepository,
    private readonly networks: NetworkRepository,
    private readonly routers: RouterRepository,
    private readonly events: NetworkEvents,
    private readonly sync: HostSync,
    private readonly config: Config,
  ) {}

  /** 404 for an unknown network, 409 `name_taken`, `subnet_overlaps`; 422 for addresses that cannot be. */
  async create(op: Op, projectId: string, input: z.output<typeof createSubnet>, by: By): Promise<Subnet> {
    const network = await this.networks.heldForChange(op, projectId, input.network);
    if (!network) throw notFound('network', input.network);
    const subnet = newSubnet(
      { ...input, member: 'cidr', gateway: input.gateway },
      network,
      this.linkPool(),
      new Date(),
    );
    await this.subnets.insert(op, subnet);
    const shown = await this.presented(op, subnet.id);
    await this.events.changed(op, 'subnet', 'created', shown);
    // Who has a port in the network may use its addresses there at once.
    await this.sync.reached(op, [network.id], by);
    return shown;
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<Subnet> {
    return present(await this.pick(op, access, projectId, ref));
  }

  async list(
    op: Op,
    access: Access,
    projectId: string | undefined,
    query: z.output<typeof subnetListQuery>,
  ): Promise<Page<Subnet>> {
    const page = await this.subnets.list(op, projectId === undefined ? access.projects : [projectId], query);
    return { items: page.rows.map(present), next: page.next };
  }

  /** Changes what was given. New DNS servers reach guests when they renew their lease. */
  async update(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    input: z.output<typeof updateSubnet>,
    by: By,
  ): Promise<Subnet> {
    const subnet = await this.pick(op, access, projectId, ref);
    if (input.dns !== undefined) checkDns(input.dns, subnet, this.linkPool());
    const changes = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.dns !== undefined && { dns: [...new Set(input.dns)] }),
    };
    if (Object.keys(changes).length === 0) return present(subnet);
    await this.subnets.update(op, subnet.id, changes);
    const shown = await this.presented(op, subnet.id);
    await this.events.changed(op, 'subnet', 'updated', shown);
    if (changes.dns) await this.sync.reached(op, [subnet.networkId], by);
    return shown;
  }

  /** It comes off its router too. 409 `subnet_in_use`, naming the instances that have an address of it. */
  async remove(op: Op, access: Access, projectId: string | undefined, ref: string, by: By): Promise<void> {
    const subnet = await this.pick(op, access, projectId, ref);
    // Before it is off its router: who is behind that has to hear of it.
    await this.sync.reached(op, [subnet.networkId], by);
    if (!(await this.subnets.lockForDelete(op, subnet.id))) throw notFound('subnet', ref);
    const { first, count } = await this.subnets.users(op, subnet.id, namedUsers);
    if (count > 0) throw inUse('subnet_in_use', `The subnet "${subnet.name}"`, first, count);
    await this.routers.removeInterface(op, subnet.id);
    await this.subnets.remove(op, subnet.id);
    await this.events.changed(op, 'subnet', 'deleted', present(subnet));
  }

  private async presented(op: Op, id: string): Promise<Subnet> {
    const shown = await this.subnets.shown(op, id);
    if (!shown) throw notFound('subnet', id);
    return present(shown);
  }

  private pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<ShownSubnet> {
    return pickByRef('subnet', ref, projectId, access, {
      byId: (id) => this.subnets.shown(op, id),
      named: (projects, name) => this.subnets.shownNamed(op, projects, name),
    });
  }

  private linkPool(): string {
    return this.config.section<NetworkConfig>('network').linkPool;
  }
}

const present = (s: ShownSubnet): Subnet => ({
  id: s.id,
  projectId: s.projectId,
  networkId: s.networkId,
  network: s.network,
  name: s.name,
  cidr: s.cidr,
  gateway: s.gateway,
  dns: s.dns,
  router: s.router,
  addresses: { total: usableCount(parseSubnet(s.cidr)), used: s.used },
  createdAt: s.createdAt.toISOString(),
});
