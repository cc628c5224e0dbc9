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
import { parseSubnet, usableCount } from '../../contract/ipv4';
import type { NetworkConfig } from '../../contract/network.config';
import { InstancePorts, type InstancePort, type WantedNic } from '../../contract/network.ports';
import type { HostNetworkDocument, NetworkApplyResult } from '../../contract/network.verbs';
import { AddressRepository, type NewPort } from './address.repository';
import { digestOf, GuestEgress } from '../hosts/guest-egress';
import { HostGenerationRepository } from '../hosts/host-generation.repository';
import { gatewayMacOf, randomMac } from './macs';
import type { NetworkEntity } from '../networks/network.entity';
import { type HeldNetwork, NetworkRepository } from '../networks/network.repository';
import type { PortEntity } from './port.entity';
import { PortRepository } from './port.repository';
import { checkFixedAddress } from '../networks/subnet-rules';
import { waysOut } from '../networks/way-out';

/**
 * Attempts at a MAC that no other port has; with 2^24 of them a second one is rare. So is an address that was lost to
 * another create.
 */
const macAttempts = 20;
const domain = 'vcstack.internal';

const full = (network: NetworkEntity): Problem =>
  conflict('no_free_address', `The network "${network.name}" (${network.subnet}) has no free address.`, {
    network: network.id,
  });
const inUse = (network: NetworkEntity, address: string, cooling?: number): Problem =>
  conflict(
    'address_in_use',
    cooling === undefined
      ? `The address ${address} of the network "${network.name}" is in use.`
      : `The address ${address} of the network "${network.name}" was released a moment ago and is free again in ${cooling} s.`,
    { network: network.id, address },
  );

/**
 * Ports of instances in PostgreSQL. Whoever gives out addresses of a network holds the lock on its row from then on
 * until the transaction ends.
 */
@injectable()
export class PostgresInstancePorts extends InstancePorts {
  constructor(
    private readonly networks: NetworkRepository,
    private readonly ports: PortRepository,
    private readonly addresses: AddressRepository,
    private readonly generations: HostGenerationRepository,
    private readonly egress: GuestEgress,
    private readonly config: Config,
  ) {
    super();
  }

  override async check(
    op: Op,
    projectId: string,
    nics: { network: string; address?: string; defaultRoute?: boolean }[],
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
        checkFixedAddress(nic.address, network, at);
        if (entry.fixed.has(nic.address))
          throw unprocessable(at, 'duplicate_address', `${nic.address} is asked for twice.`);
        entry.fixed.add(nic.address);
        await this.requireFree(op, network, nic.address);
      }
      if (nic.defaultRoute === true) {
        const at = `${path(index)}.defaultRoute`;
        if (!network.nat) throw unprocessable(at, 'no_way_out', `The network "${network.name}" has no way out.`);
        if (checked.some((other) => other.defaultRoute === true))
          throw unprocessable(at, 'several_default_routes', 'A guest has one default route: ask for it on one card.');
      }
      checked.push({
        networkId: network.id,
        ...(nic.address !== undefined && { address: nic.address }),
        ...(nic.defaultRoute === true && { defaultRoute: true }),
      });
    }
    for (const { network, count } of wanted.values()) {
      // Most networks have room, and the address that comes next tells it at once: counting all of them takes time.
      if (count === 1 && network.nextIsFree) continue;
      const { used, cooling } = await this.addresses.taken(op, network.id);
      if (usableCount(parseSubnet(network.subnet)) - used - cooling < count) throw full(network);
    }
    return checked;
  }

  override async allocate(
    op: Op,
    request: { instanceId: string; projectId: string; hostname: string; hostId: string; nics: WantedNic[] },
  ): Promise<InstancePort[]> {
    const ids = request.nics.map((n) => n.networkId);
    // An address that was asked for is looked at before it is taken; the next free one is found and taken in one
    // statement that locks by itself. Several networks are locked in one order for all.
    const first = new Set(ids).size > 1 || request.nics.some((n) => n.address !== undefined);
    const [found, present] = await atOnce(
      first ? this.networks.lock(op, ids) : this.networks.byIds(op, ids),
      this.ports.ofInstances(op, [request.instanceId]),
      ...[...new Set(ids)].map((id) => this.addresses.sweep(op, id)),
    );
    const networks = new Map(found.map((n) => [n.id, n]));
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
        nic.address,
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
    const [[network], present] = await atOnce(
      nic.address === undefined ? this.networks.byIds(op, ids) : this.networks.lock(op, ids),
      this.ports.ofInstances(op, [of.instanceId]),
      this.addresses.sweep(op, nic.networkId),
    );
    if (!network || network.projectId !== of.projectId) throw notFound('network', nic.networkId);
    const made = present.find((port) => port.id === portId);
    if (made) return presentPort(made, network.name);
    const position = 1 + Math.max(-1, ...present.map((port) => port.position));
    const port = { ...of, id: portId, networkId: network.id, position, defaultRoute: nic.defaultRoute === true };
    return this.make(op, network, port, nic.address);
  }

  override async release(op: Op, instanceId: string, portId?: string): Promise<void> {
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
    // The generation's row is locked first: the ports are those that whoever had it has left.
    const [generation, , ports] = await atOnce(
      this.generations.next(op, hostId, digestOf(egress)),
      change && ('attach' in change ? this.ports.attach(op, change.attach) : this.ports.detach(op, change.detach)),
      this.ports.attachedTo(op, hostId),
    );
    const networks = await this.networks.byIds(op, [...new Set(ports.map((p) => p.networkId))]);
    const routed = new Set(networks.filter((n) => n.nat).map((n) => n.id));
    // All ports of an instance are on its host, so this document knows them all.
    const out = waysOut(ports.map((p) => ({ ...p, nat: routed.has(p.networkId) })));
    return {
      generation,
      egress,
      networks: networks
        .sort((a, b) => a.id.localeCompare(b.id))
        .map((n) => ({
          id: n.id,
          subnet: n.subnet,
          gateway: n.gateway,
          gatewayMac: gatewayMacOf(n.id),
          dns: n.dns,
          domain,
          mtu: n.mtu,
          nat: n.nat,
          ports: ports
            .filter((p) => p.networkId === n.id)
            .map((p) => ({
              id: p.id,
              instanceId: p.instanceId,
              mac: p.mac,
              address: p.address,
              hostname: p.hostname,
              position: p.position,
              defaultRoute: out.has(p.id),
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
    network: NetworkEntity,
    port: Omit<NewPort, 'mac'>,
    address: string | undefined,
  ): Promise<InstancePort> {
    if (address !== undefined) await this.requireFree(op, network, address);
    for (let attempt = 0; attempt < macAttempts; attempt += 1) {
      const mac = randomMac();
      const got =
        address === undefined
          ? await this.addresses.allocate(op, { ...port, mac })
          : (await this.addresses.insert(op, { ...port, mac }, address))
            ? address
            : 'again';
      if (got === 'full') throw full(network);
      if (got === 'gone') throw notFound('network', network.id);
      if (got !== 'again') return { id: port.id, networkId: network.id, network: network.name, mac, address: got };
    }
    throw new Error('no free MAC was found');
  }

  private async requireFree(op: Op, network: NetworkEntity, address: string): Promise<void> {
    const availability = await this.addresses.availability(op, network.id, address);
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
