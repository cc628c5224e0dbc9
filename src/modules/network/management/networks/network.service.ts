import { inject, injectable, multiInject, optional } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import { Config } from '../../../../core/config/config';
import type { Op } from '../../../../core/db/rows/op';
import { inUse, namedUsers } from '../../../../core/errors/in-use';
import { nameTaken, notFound } from '../../../../core/errors/problem';
import type { Page } from '../../../../core/http/routes/pagination';
import { pickByRef } from '../../../../core/http/routes/pick-by-ref';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Projects } from '../../../identity/contract/identity.ports';
import { parseSubnet, usableCount } from '../../contract/ipv4';
import { NetworkUsage } from '../../contract/network.ports';
import type {
  createNetwork,
  Network,
  networkListQuery,
  Port,
  portListQuery,
  updateNetwork,
} from '../../contract/network.api';
import type { NetworkConfig } from '../../contract/network.config';
import { HostSync, type By } from '../hosts/host-sync.service';
import type { NetworkEntity } from './network.entity';
import { NetworkEvents } from './network.events';
import { NetworkRepository, type ShownNetwork } from './network.repository';
import type { RouterEntity } from '../routers/router.entity';
import { RouterRepository } from '../routers/router.repository';
import { newSubnet } from '../subnets/new-subnet';
import type { SubnetEntity } from '../subnets/subnet.entity';
import { SubnetRepository } from '../subnets/subnet.repository';
import { PortRepository } from '../ports/port.repository';
import { presentPort } from '../ports/present-port';
import { PortGroups } from '../security-groups/port-groups';

/** Networks and the view of ports, for users. */
@injectable()
export class NetworkService {
  constructor(
    @inject(NetworkRepository) private readonly networks: NetworkRepository,
    @inject(SubnetRepository) private readonly subnets: SubnetRepository,
    @inject(RouterRepository) private readonly routers: RouterRepository,
    @inject(PortRepository) private readonly ports: PortRepository,
    @inject(NetworkEvents) private readonly events: NetworkEvents,
    @inject(Projects) private readonly projects: Projects,
    @inject(PortGroups) private readonly groups: PortGroups,
    @inject(HostSync) private readonly sync: HostSync,
    @inject(Config) private readonly config: Config,
    @multiInject(NetworkUsage) @optional() private readonly usages: NetworkUsage[] = [],
  ) {}

  /**
   * 409 `name_taken`; 422 for addresses that cannot be, see `checkSubnet`. Networks of different projects, and of one,
   * may overlap: they are isolated.
   */
  async create(op: Op, projectId: string, input: z.output<typeof createNetwork>): Promise<Network> {
    const { linkPool, mtu } = this.config.section<NetworkConfig>('network');
    const createdAt = new Date();
    const { name, description, gateway, dns = [], nat = true } = input;
    const network: NetworkEntity = { id: timeOrderedUuid(), projectId, name, description, mtu, createdAt };
    const subnet =
      input.subnet === undefined
        ? undefined
        : newSubnet({ name, cidr: input.subnet, gateway, dns, member: 'subnet' }, network, linkPool, createdAt);
    await this.projects.hold(op, projectId);
    if (!(await this.networks.insert(op, network))) throw nameTaken('network', name);
    // Seen, and its rules changed, before the first port is there.
    await this.groups.ensureDefault(op, projectId);
    if (subnet) await this.subnets.insert(op, subnet);
    const router = subnet && nat ? await this.giveWayOut(op, network, subnet) : null;
    const presented = this.present({ ...network, subnets: subnet ? [{ ...subnet, used: 0 }] : [], router });
    await this.events.changed(op, 'network', 'created', presented);
    return presented;
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<Network> {
    const network = await pickByRef('network', ref, projectId, access, {
      byId: (id) => this.networks.shown(op, id),
      named: (projects, name) => this.networks.shownNamed(op, projects, name),
    });
    return this.present(network);
  }

  async list(
    op: Op,
    access: Access,
    projectId: string | undefined,
    query: z.output<typeof networkListQuery>,
  ): Promise<Page<Network>> {
    const page = await this.networks.list(op, projectId === undefined ? access.projects : [projectId], query);
    return { items: page.rows.map((n) => this.present(n)), next: page.next };
  }

  /** Changes what was given. */
  async update(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    input: z.output<typeof updateNetwork>,
  ): Promise<Network> {
    const network = await this.pick(op, access, projectId, ref);
    const changes = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.description !== undefined && { description: input.description }),
    };
    if (Object.keys(changes).length > 0) await this.networks.update(op, network.id, changes);
    const after = await this.networks.shown(op, network.id);
    if (!after) throw notFound('network', ref);
    const presented = this.present(after);
    if (Object.keys(changes).length > 0) await this.events.changed(op, 'network', 'updated', presented);
    return presented;
  }

  /** 409 `network_in_use`, naming who uses it or is about to. Hosts that have it by its router hear of it. */
  async remove(op: Op, access: Access, projectId: string | undefined, ref: string, by: By): Promise<void> {
    const network = await this.pick(op, access, projectId, ref);
    await this.networks.lockForDelete(op, network.id);
    for (const usage of this.usages) {
      const { first, count } = await usage.users(op, network, namedUsers);
      if (count > 0) throw inUse('network_in_use', `The network "${network.name}"`, first, count);
    }
    // Ports of instances that are gone from everywhere else: their host still has them.
    const ports = await this.ports.users(op, network.id, namedUsers);
    if (ports.length > 0)
      throw inUse(
        'network_in_use',
        `The network "${network.name}"`,
        ports.map(({ id, hostname }) => ({ kind: 'instance', id, name: hostname })),
        ports.length,
      );
    const last = await this.networks.shown(op, network.id);
    // Before it is off its router: they are found by that.
    await this.sync.reached(op, [network.id], by);
    await this.routers.removeNetwork(op, network.id);
    await this.subnets.removeOf(op, network.id);
    await this.networks.remove(op, network.id);
    if (last) await this.events.changed(op, 'network', 'deleted', this.present(last));
  }

  async listPorts(
    op: Op,
    access: Access,
    projectId: string | undefined,
    query: z.output<typeof portListQuery>,
  ): Promise<Page<Port>> {
    // What the host's programs said is for those who run it.
    const operator = seesHosts(access.principal);
    const page = await this.ports.list(op, projectId === undefined ? access.projects : [projectId], query);
    return {
      items: page.rows.map((p) => presentPort(p, operator)),
      next: page.next,
    };
  }

  private pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<NetworkEntity> {
    return pickByRef('network', ref, projectId, access, {
      byId: (id) => this.networks.byId(op, id),
      named: (projects, name) => this.networks.named(op, projects, name),
    });
  }

  /** A router of the network's name, or of a like one where there is another of that name already. */
  private async giveWayOut(op: Op, network: NetworkEntity, subnet: SubnetEntity): Promise<RouterEntity> {
    const router: RouterEntity = {
      id: timeOrderedUuid(),
      projectId: network.projectId,
      name: network.name,
      description: '',
      snat: true,
      withNetworkId: network.id,
      createdAt: network.createdAt,
    };
    if (!(await this.routers.insert(op, router))) {
      router.name = `${network.name.slice(0, 54)}-${router.id.slice(-8)}`;
      if (!(await this.routers.insert(op, router))) throw nameTaken('router', router.name);
    }
    await this.routers.addInterface(op, {
      routerId: router.id,
      networkId: network.id,
      subnetId: subnet.id,
      cidr: subnet.cidr,
    });
    return router;
  }

  private present({ subnets, router, ...n }: ShownNetwork): Network {
    const { allow, deny } = this.config.section<NetworkConfig>('network').guestEgress;
    const shown = subnets.map(({ id, name, cidr, gateway, dns, used }) => ({
      id,
      name,
      cidr,
      gateway,
      dns,
      addresses: { total: usableCount(parseSubnet(cidr)), used },
    }));
    return {
      id: n.id,
      projectId: n.projectId,
      name: n.name,
      description: n.description,
      mtu: n.mtu,
      subnets: shown,
      router: router && { id: router.id, name: router.name, snat: router.snat },
      guestEgress: router?.snat ? { allow, deny } : null,
      addresses: {
        total: shown.reduce((sum, { addresses }) => sum + addresses.total, 0),
        used: shown.reduce((sum, { addresses }) => sum + addresses.used, 0),
      },
      createdAt: n.createdAt.toISOString(),
    };
  }
}
