import { injectable } from 'inversify';
import { randomUUID } from 'node:crypto';
import { Config } from '../../../../core/config/config';
import type { Sql } from '../../../../core/db/rows/keyset';
import { atOnce } from '../../../../core/db/at-once';
import type { Op } from '../../../../core/db/rows/op';
import { looksLikeAddress } from '../../../../core/db/rows/search';
import { conflict, notFound, Problem, unprocessable } from '../../../../core/errors/problem';
import { looksLikeId } from '../../../../core/http/routes/fields';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { contains, parseIpv4, parseSubnet, usableCount } from '../../contract/ipv4';
import type { NetworkConfig } from '../../contract/network.config';
import { type AskedNic, InstancePorts, type InstancePort, type WantedNic } from '../../contract/network.ports';
import type { HostNetworkDocument } from '../../contract/host-document';
import type { NetworkApplyResult } from '../../contract/network.verbs';
import { AddressRepository, type NewPort } from './address.repository';
import { PortGroups } from '../security-groups/port-groups';
import { digestOf, GuestEgress } from '../hosts/guest-egress';
import { HostGenerationRepository } from '../hosts/host-generation.repository';
import { gatewayMacOf, randomMac } from './macs';
import type { NetworkEntity } from '../networks/network.entity';
import { type HeldNetwork, NetworkRepository, type UsedSubnet } from '../networks/network.repository';
import { RouterRepository } from '../routers/router.repository';
import type { SubnetEntity } from '../subnets/subnet.entity';
import { SubnetRepository } from '../subnets/subnet.repository';
import type { PortEntity } from './port.entity';
import { PortRepository } from './port.repository';
import { OverlayRepository } from '../overlay/overlay.repository';
import { checkFixedAddress } from '../networks/subnet-rules';
import { waysOut } from '../networks/way-out';

/**
 * Attempts at a MAC that no other port has; with 2^24 of them a second one is rare. So is an address that was lost to
 * another create.
 */
const macAttempts = 20;
const domain = 'vcstack.internal';

const full = (network: { id: string; name: string }, subnets: readonly { cidr: string }[]): Problem =>
  conflict(
    'no_free_address',
    `The network "${network.name}" (${subnets.map(({ cidr }) => cidr).join(', ')}) has no free address.`,
    {
      network: network.id,
    },
  );
const inUse = (network: { id: string; name: string }, address: string, cooling?: number): Problem =>
  conflict(
    'address_in_use',
    cooling === undefined
      ? `The address ${address} of the network "${network.name}" is in use.`
      : `The address ${address} of the network "${network.name}" was released a moment ago and is free again in ${cooling} s.`,
    { network: network.id, address },
  );

const noSubnet = (network: { name: string; subnets: readonly { cidr: string }[] }, path: string): Problem =>
  unprocessable(path, 'address_outside', `The network "${network.name}" has no subnet.`);

const subnetsOf = (networkId: string, subnets: readonly SubnetEntity[]): SubnetEntity[] =>
  subnets.filter((subnet) => subnet.networkId === networkId);

const isIn = ({ cidr }: UsedSubnet, address: string): boolean => contains(parseSubnet(cidr), parseIpv4(address));

/** The subnet that an address is in; else the first one, of which it is then said that it is not. */
const subnetFor = <S extends UsedSubnet>(subnets: readonly S[], address: string): S | undefined =>
  subnets.find((subnet) => isIn(subnet, address)) ?? subnets[0];

/**
 * Ports of instances in PostgreSQL. Whoever gives out addresses of a subnet holds the lock on its row from then on until
 * the transaction ends.
 */
@injectable()
export class PostgresInstancePorts extends InstancePorts {
  constructor(
    private readonly networks: NetworkRepository,
    private readonly subnets: SubnetRepository,
    private readonly routers: RouterRepository,
    private readonly ports: PortRepository,
    private readonly addresses: AddressRepository,
    private readonly generations: HostGenerationRepository,
    private readonly egress: GuestEgress,
    private readonly groups: PortGroups,
    private readonly config: Config,
    private readonly overlays: OverlayRepository,
  ) {
    super();
  }

  override async check(
    op: Op,
    projectId: string,
    nics: AskedNic[],
    path: (index: number) => string,
  ): Promise<WantedNic[]> {
    const checked: WantedNic[] = [];
    const wanted = new Map<string, { network: HeldNetwork; count: number; fixed: Set<string> }>();
    for (const [index, nic] of nics.entries()) {
      const network = await this.find(op, projectId, nic.network);
      const entry = wanted.get(network.id) ?? { network, count: 0, fixed: new Set<string>() };
      wanted.set(network.id, entry);
      entry.count += 1;
      if (nic.address !== undefined) {
        const at = `${path(index)}.address`;
        const subnet = subnetFor(network.subnets, nic.address);
        if (!subnet) throw noSubnet(network, at);
        checkFixedAddress(nic.address, subnet, at);
        if (entry.fixed.has(nic.address))
          throw unprocessable(at, 'duplicate_address', `${nic.address} is asked for twice.`);
        entry.fixed.add(nic.address);
        await this.requireFree(op, network, subnet.id, nic.address);
      }
      if (nic.defaultRoute === true) {
        const at = `${path(index)}.defaultRoute`;
        if (!network.nat) throw unprocessable(at, 'no_way_out', `The network "${network.name}" has no way out.`);
        if (checked.some((other) => other.defaultRoute === true))
          throw unprocessable(at, 'several_default_routes', 'A guest has one default route: ask for it on one card.');
      }
      const groups =
        nic.securityGroups &&
        (await this.groups.resolve(op, projectId, nic.securityGroups, `${path(index)}.securityGroups`));
      checked.push({
        networkId: network.id,
        ...(groups && { securityGroups: groups }),
        ...(nic.address !== undefined && { address: nic.address }),
        ...(nic.defaultRoute === true && { defaultRoute: true }),
      });
    }
    for (const { network, count } of wanted.values()) {
      // Most networks have room, and the address that comes next tells it at once: counting all of them takes time.
      if (count === 1 && network.nextIsFree) continue;
      const taken = await this.addresses.taken(
        op,
        network.subnets.map(({ id }) => id),
      );
      const room = network.subnets.reduce((sum, { cidr }) => sum + usableCount(parseSubnet(cidr)), 0);
      if (room - taken < count) throw full(network, network.subnets);
    }
    return checked;
  }

  override async allocate(
    op: Op,
    request: { instanceId: string; projectId: string; hostname: string; hostId: string; nics: WantedNic[] },
  ): Promise<InstancePort[]> {
    const ids = request.nics.map((n) => n.networkId);
    // An address that was asked for is looked at before it is taken; the next free one is found and taken under a lock
    // that comes with it. Subnets of several networks are locked in one order for all.
    const first = new Set(ids).size > 1 || request.nics.some((n) => n.address !== undefined);
    const [found, subnets, present] = await atOnce(
      this.networks.byIds(op, ids),
      first ? this.subnets.lock(op, ids) : this.subnets.ofNetworks(op, ids),
      this.ports.ofInstances(op, [request.instanceId]),
      this.addresses.sweep(op, ids),
    );
    const networks = new Map(found.map((n) => [n.id, { ...n, subnets: subnetsOf(n.id, subnets) }]));
    if (present.length > 0) return present.map((p) => presentPort(p, networks.get(p.networkId)?.name ?? ''));
    // Addresses that were asked for come first: no other NIC of the same instance may get them by chance.
    const order = [...request.nics.entries()].sort(
      ([, a], [, b]) => Number(b.address !== undefined) - Number(a.address !== undefined),
    );
    const made: InstancePort[] = [];
    for (const [position, nic] of order) {
      const network = networks.get(nic.networkId);
      if (!network || network.projectId !== request.projectId) throw notFound('network', nic.networkId);
      const { instanceId, projectId, hostId, hostname } = request;
      made[position] = await this.make(
        op,
        network,
        {
          id: randomUUID(),
          projectId,
          networkId: network.id,
          instanceId,
          hostId,
          hostname,
          position,
          defaultRoute: nic.defaultRoute === true,
        },
        nic,
      );
    }
    return made;
  }

  override async add(
    op: Op,
    {
      nic,
      portId,
      ...of
    }: { portId: string; instanceId: string; projectId: string; hostname: string; hostId: string; nic: WantedNic },
  ): Promise<InstancePort> {
    const ids = [nic.networkId];
    const [[network], subnets, present] = await atOnce(
      this.networks.byIds(op, ids),
      nic.address === undefined ? this.subnets.ofNetworks(op, ids) : this.subnets.lock(op, ids),
      this.ports.ofInstances(op, [of.instanceId]),
      this.addresses.sweep(op, ids),
    );
    if (!network || network.projectId !== of.projectId) throw notFound('network', nic.networkId);
    const made = present.find((port) => port.id === portId);
    if (made) return presentPort(made, network.name);
    const position = 1 + Math.max(-1, ...present.map((port) => port.position));
    const port = { ...of, id: portId, networkId: network.id, position, defaultRoute: nic.defaultRoute === true };
    return this.make(op, { ...network, subnets }, port, nic);
  }

  override async release(op: Op, instanceId: string, portId?: string): Promise<void> {
    await this.groups.moving(op, { instanceId, portId }, false);
    await this.addresses.release(
      op,
      instanceId,
      portId ?? null,
      this.config.section<NetworkConfig>('network').cooldownSeconds,
    );
  }

  override async of(op: Op, instanceIds: string[]): Promise<Map<string, InstancePort[]>> {
    return new Map((await this.ports.shown(op, instanceIds)).map(({ instanceId, ports }) => [instanceId, ports]));
  }

  override shownOf(instanceId: string): Sql<InstancePort[]> {
    return this.ports.shownOf(instanceId);
  }

  override async instancesAt(op: Op, projects: 'all' | readonly string[], q: string, limit: number): Promise<string[]> {
    return looksLikeAddress(q) ? this.ports.instancesAt(op, projects, q, limit) : [];
  }

  override async document(
    op: Op,
    hostId: string,
    change?: { attach: string } | { detach: string },
  ): Promise<HostNetworkDocument> {
    if (!op.inTransaction) throw new Error('a host document is made in a transaction');
    const egress = await this.egress.document(op);
    if (change)
      await ('attach' in change
        ? this.groups.moving(op, { instanceId: change.attach }, true)
        : this.groups.moving(op, { portId: change.detach }, false));
    // The generation's row is locked first: the ports are those that whoever had it has left.
    const [{ generation, crosses }, , ports, addresses] = await atOnce(
      this.generations.next(op, hostId, digestOf(egress)),
      change && ('attach' in change ? this.ports.attach(op, change.attach) : this.ports.detach(op, change.detach)),
      this.ports.attachedTo(op, hostId),
      this.ports.addressesAt(op, hostId),
    );
    const used = [...new Set(ports.map((p) => p.networkId))];
    const [networks, subnets, routers, overlay] = await atOnce(
      this.networks.reachedFrom(op, used),
      this.subnets.reachedFrom(op, used),
      this.routers.ofNetworks(op, used),
      crosses ? this.overlays.of(op, hostId, used) : null,
    );
    const { groups, ofPort } = await this.groups.documents(op, hostId, generation, ports, networks);
    const given = Map.groupBy(addresses, ({ portId }) => portId);
    // Of a network some subnets may be on a router, and others not: what a guest gets by DHCP decides.
    const outside = new Set(routers.filter((r) => r.snat).flatMap((r) => r.interfaces.map((i) => i.subnetId)));
    // All ports of an instance are on its host, so this document knows them all.
    const out = waysOut(ports.map((p) => ({ ...p, nat: outside.has(given.get(p.id)?.[0]?.subnetId ?? '') })));
    return {
      generation,
      egress,
      routers,
      ...(overlay && {
        underlay: { address: overlay.address, port: this.config.section<NetworkConfig>('network').overlayPort },
      }),
      securityGroups: groups,
      networks: networks.map((n) => ({
        id: n.id,
        gatewayMac: gatewayMacOf(n.id),
        domain,
        mtu: n.mtu,
        overlay: overlay?.networks.get(n.id),
        subnets: subnets
          .filter((s) => s.networkId === n.id)
          .map(({ id, cidr, gateway, dns }) => ({ id, cidr, gateway, dns })),
        ports: ports
          .filter((p) => p.networkId === n.id)
          .map((p) => ({
            id: p.id,
            instanceId: p.instanceId,
            mac: p.mac,
            addresses: (given.get(p.id) ?? []).map(({ subnetId, address }) => ({ subnetId, address })),
            hostname: p.hostname,
            position: p.position,
            defaultRoute: out.has(p.id),
            securityGroups: ofPort.get(p.id) ?? [],
          })),
      })),
    };
  }

  override async applied(op: Op, result: NetworkApplyResult, instanceId?: string, portId?: string): Promise<void> {
    if (instanceId !== undefined) {
      const own = await this.ports.ofInstances(op, [instanceId]);
      const reported = new Map(result.ports.map((p) => [p.id, p]));
      for (const port of own.filter(({ id }) => portId === undefined || id === portId)) {
        const state = reported.get(port.id);
        if (!state)
          throw new PermanentError('port_failed', `The host does not have the port ${port.address}.`, {
            port: port.id,
          });
        if (state.state === 'error')
          throw new PermanentError(
            'port_failed',
            `The host could not make the port ${port.address}.`,
            { port: port.id },
            state.message,
          );
      }
      const states = own.flatMap((p) => reported.get(p.id) ?? []);
      await atOnce(this.ports.setStates(op, instanceId, states), this.ports.setOtherStates(op, result.ports));
      return;
    }
    await this.ports.setOtherStates(op, result.ports);
  }

  private async make(
    op: Op,
    network: NetworkEntity & { subnets: readonly UsedSubnet[] },
    port: Omit<NewPort, 'mac'>,
    { address, securityGroups }: WantedNic,
  ): Promise<InstancePort> {
    const given =
      address === undefined ? await this.next(op, network, port) : await this.exactly(op, network, port, address);
    await this.groups.join(op, port, securityGroups);
    return { id: port.id, networkId: network.id, network: network.name, ...given };
  }

  /** With the next free address of the first subnet that has one. */
  private async next(
    op: Op,
    network: NetworkEntity & { subnets: readonly UsedSubnet[] },
    port: Omit<NewPort, 'mac'>,
  ): Promise<{ mac: string; address: string }> {
    const subnets = [...network.subnets];
    for (let attempt = 0; attempt < macAttempts; ) {
      const [subnet] = subnets;
      if (!subnet) throw full(network, network.subnets);
      const mac = randomMac();
      const got = await this.addresses.allocate(op, { ...port, mac }, subnet.id);
      if (got === 'full' || got === 'gone') subnets.shift();
      else if (got === 'again') attempt += 1;
      else return { mac, address: got };
    }
    throw new Error('no free MAC was found');
  }

  private async exactly(
    op: Op,
    network: NetworkEntity & { subnets: readonly UsedSubnet[] },
    port: Omit<NewPort, 'mac'>,
    address: string,
  ): Promise<{ mac: string; address: string }> {
    const subnet = network.subnets.find((one) => isIn(one, address));
    if (!subnet)
      throw conflict('no_such_subnet', `The network "${network.name}" has no subnet with ${address} any more.`, {
        network: network.id,
      });
    await this.requireFree(op, network, subnet.id, address);
    for (let attempt = 0; attempt < macAttempts; attempt += 1) {
      const mac = randomMac();
      if (await this.addresses.insert(op, { ...port, mac }, subnet.id, address)) return { mac, address };
    }
    throw new Error('no free MAC was found');
  }

  private async requireFree(op: Op, network: NetworkEntity, subnetId: string, address: string): Promise<void> {
    const availability = await this.addresses.availability(op, subnetId, address);
    if (availability === 'used') throw inUse(network, address);
    if (availability !== 'free') throw inUse(network, address, availability.cooling);
  }

  /** In a transaction the network stays until that has committed: whoever deletes it then sees who uses it. */
  private async find(op: Op, projectId: string, ref: string): Promise<HeldNetwork> {
    const found = await this.networks.held(op, projectId, looksLikeId(ref) ? { id: ref.toLowerCase() } : { name: ref });
    if (!found || found.projectId !== projectId) throw notFound('network', ref);
    return found;
  }
}

const presentPort = (port: PortEntity, network: string): InstancePort => ({
  id: port.id,
  networkId: port.networkId,
  network,
  mac: port.mac,
  address: port.address,
});
