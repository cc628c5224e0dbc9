import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { inUse, namedUsers } from '../../../../core/errors/in-use';
import { conflict, nameTaken, notFound } from '../../../../core/errors/problem';
import type { Page } from '../../../../core/http/routes/pagination';
import { pickByRef } from '../../../../core/http/routes/pick-by-ref';
import { Projects } from '../../../identity/contract/identity.ports';
import type { createRouter, Router, routerListQuery, updateRouter } from '../../contract/router.api';
import { HostSync, type By } from '../hosts/host-sync.service';
import { NetworkEvents } from '../networks/network.events';
import { SubnetRepository, type ShownSubnet } from '../subnets/subnet.repository';
import { RouterRepository, type ShownRouter } from './router.repository';

/** Routers, for users. */
@injectable()
export class RouterService {
  constructor(
    private readonly routers: RouterRepository,
    private readonly subnets: SubnetRepository,
    private readonly events: NetworkEvents,
    private readonly projects: Projects,
    private readonly sync: HostSync,
  ) {}

  /** 409 `name_taken`. */
  async create(op: Op, projectId: string, input: z.output<typeof createRouter>): Promise<Router> {
    await this.projects.hold(op, projectId);
    const router = { id: timeOrderedUuid(), projectId, ...input, withNetworkId: null, createdAt: new Date() };
    if (!(await this.routers.insert(op, router))) throw nameTaken('router', input.name);
    const shown = present({ ...router, subnets: [] });
    await this.events.changed(op, 'router', 'created', shown);
    return shown;
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<Router> {
    return present(await this.pick(op, access, projectId, ref));
  }

  async list(
    op: Op,
    access: Access,
    projectId: string | undefined,
    query: z.output<typeof routerListQuery>,
  ): Promise<Page<Router>> {
    const page = await this.routers.list(op, projectId === undefined ? access.projects : [projectId], query);
    return { items: page.rows.map(present), next: page.next };
  }

  /** Changes what was given. Without source NAT what is open to the outside ends. */
  async update(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    input: z.output<typeof updateRouter>,
    by: By,
  ): Promise<Router> {
    const router = await this.pick(op, access, projectId, ref);
    const changes = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
    if (Object.keys(changes).length === 0) return present(router);
    await this.routers.update(op, router.id, changes);
    if (input.snat !== undefined && input.snat !== router.snat) await this.sync.reached(op, networksOf(router), by);
    return this.changed(op, router.id);
  }

  /** 409 `router_in_use`, naming the subnets that are on it. */
  async remove(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<void> {
    const { id } = await this.pick(op, access, projectId, ref);
    const router = await this.held(op, id);
    const on = router.subnets.map((subnet) => ({ kind: 'subnet', id: subnet.id, name: subnet.name }));
    if (on.length > 0) throw inUse('router_in_use', `The router "${router.name}"`, on.slice(0, namedUsers), on.length);
    await this.routers.remove(op, id);
    await this.events.changed(op, 'router', 'deleted', present(router));
  }

  /**
   * The subnet is on the router; nothing to do when it is already. Both are of one project: 404 otherwise. 409 as
   * `addInterface` says.
   */
  async addSubnet(
    op: Op,
    access: Access,
    projectId: string | undefined,
    refs: { router: string; subnet: string },
    by: By,
  ): Promise<Router> {
    const { router, subnet } = await this.both(op, access, projectId, refs);
    if (subnet.router?.id === router.id) return present(router);
    await this.routers.addInterface(op, {
      routerId: router.id,
      networkId: subnet.networkId,
      subnetId: subnet.id,
      cidr: subnet.cidr,
    });
    await this.sync.reached(op, [subnet.networkId], by);
    return this.changed(op, router.id);
  }

  /** The subnet is on the router no more. 409 `subnet_not_on_router`. */
  async removeSubnet(
    op: Op,
    access: Access,
    projectId: string | undefined,
    refs: { router: string; subnet: string },
    by: By,
  ): Promise<Router> {
    const { router, subnet } = await this.both(op, access, projectId, refs);
    if (subnet.router?.id !== router.id)
      throw conflict('subnet_not_on_router', `The subnet "${subnet.name}" is not on the router "${router.name}".`);
    // Before it is off: who is behind the router has to hear of it.
    await this.sync.reached(op, networksOf(router), by);
    await this.routers.removeInterface(op, subnet.id);
    return this.changed(op, router.id);
  }

  private async both(
    op: Op,
    access: Access,
    projectId: string | undefined,
    refs: { router: string; subnet: string },
  ): Promise<{ router: ShownRouter; subnet: ShownSubnet }> {
    const { id, projectId: own } = await this.pick(op, access, projectId, refs.router);
    const router = await this.held(op, id);
    const subnet = await pickByRef('subnet', refs.subnet, own, access, {
      byId: (subnetId) => this.subnets.shown(op, subnetId),
      named: (projects, name) => this.subnets.shownNamed(op, projects, name),
    });
    if (subnet.projectId !== own) throw notFound('subnet', refs.subnet);
    return { router, subnet };
  }

  private async changed(op: Op, id: string): Promise<Router> {
    const shown = await this.routers.shown(op, id);
    if (!shown) throw notFound('router', id);
    await this.events.changed(op, 'router', 'updated', present(shown));
    return present(shown);
  }

  /** As it is once nobody else changes it. */
  private async held(op: Op, id: string): Promise<ShownRouter> {
    const router = (await this.routers.hold(op, id)) ? await this.routers.shown(op, id) : null;
    if (!router) throw notFound('router', id);
    return router;
  }

  private pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<ShownRouter> {
    return pickByRef('router', ref, projectId, access, {
      byId: (id) => this.routers.shown(op, id),
      named: (projects, name) => this.routers.shownNamed(op, projects, name),
    });
  }
}

const networksOf = ({ subnets }: ShownRouter): string[] => [...new Set(subnets.map(({ networkId }) => networkId))];

const present = (r: ShownRouter): Router => ({
  id: r.id,
  projectId: r.projectId,
  name: r.name,
  description: r.description,
  snat: r.snat,
  subnets: r.subnets,
  createdAt: r.createdAt.toISOString(),
});
