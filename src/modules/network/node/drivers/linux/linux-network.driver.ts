import { injectable } from 'inversify';
import { createHash } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { Config } from '../../../../../core/config/config';
import { exec, ExecError } from '../../../../../core/host/processes/exec';
import { sandboxUsers } from '../../../../../core/host/sandbox/sandbox-users';
import { Logging } from '../../../../../core/telemetry/logging';
import { routersByNetwork } from '../../../contract/host-document';
import type { NetworkConfig } from '../../../contract/network.config';
import type { FoundLeftover } from '../../../../host/contract/host.ports';
import {
  NetworkDriver,
  type ConvergeRequest,
  type LeftoverSearch,
  type PortOutcome,
  type ServedNetwork,
} from '../network-driver';
import { addressesOf, guestWall, readHostRoutes, type GuestWall } from './guest-wall';
import { diffNamespace, missingOverlays, staleLinks } from './diff';
import { DnsmasqSupervisor } from './dnsmasq.supervisor';
import { emptyNamespace, readNamespace, type ActualNamespace } from './ip-state';
import { limited } from './limited';
import { LinuxLeftovers } from './linux-leftovers';
import { LinuxStateStore, type LinuxState } from './linux-state.store';
import * as names from './names';
import { bringOverlay } from './overlay-entries';
import { execIn, ipBatch, listNetns, namesArePrivate } from './netns';
import { dropTable, elementHashes, listedHash, loadElements, loadTables, shapeHash, tablesHash } from './nft';
import { nameServers } from './dhcp-plan';
import { assignLinks, inPool, planHost, type Plan, type WantedNamespace, waysOutHere } from './plan';
import { hostResolvers } from './resolvers';

/** Children at a time: enough to keep two cores busy. */
const parallel = 4;
const key = (netns: string | null): string => netns ?? 'host';
const specHash = ({ portIds: _portIds, ...spec }: WantedNamespace): string =>
  createHash('sha256').update(JSON.stringify(spec)).digest('hex');
const message = (error: unknown): string =>
  (error instanceof ExecError
    ? (error.stderr || error.message).trim()
    : error instanceof Error
      ? error.message
      : String(error)
  ).slice(0, 500);

/** One pass over a host: what it found and what went wrong. */
interface Pass {
  hash: string;
  plan: Plan;
  verify: boolean;
  state: LinuxState;
  live: Set<string>;
  /** Namespaces that this pass reads and changes; the others are as the last pass left them. */
  touched: Map<string, WantedNamespace>;
  actual: Map<string, ActualNamespace>;
  created: Set<string>;
  failures: Map<string, string>;
}

/**
 * Networks of the kernel alone: one namespace per instance, network and router, joined by veth pairs; nftables,
 * dnsmasq. Reads back what is there, changes the difference only, and touches nothing that is not its own: namespaces
 * with this host's prefix, links with its prefix in the host's namespace, and one nftables table there.
 */
@injectable()
export class LinuxNetworkDriver extends NetworkDriver {
  private readonly log: Logger;
  private readonly done = new Map<string, string>();
  private readonly dhcpDone = new Map<string, string>();
  private prepared: Promise<void> | undefined;
  /** Of the host, as the last pass found them. */
  private resolvers: readonly string[] = [];
  private unknown: readonly string[] = [];
  /** Of the last pass. */
  private planned: { generation: number; plan: Plan } | null = null;

  constructor(
    private readonly config: Config,
    private readonly store: LinuxStateStore,
    private readonly dnsmasq: DnsmasqSupervisor,
    private readonly unplanned: LinuxLeftovers,
    logging: Logging,
  ) {
    super();
    this.log = logging.for('network.linux');
  }

  locate(hostId: string, instanceId: string, portId: string): { netns: string | null; tap: string } {
    return { netns: names.instanceNetns(names.hostHash(hostId), instanceId), tap: names.tapName(portId) };
  }

  served({ hostId, document }: Pick<ConvergeRequest, 'hostId' | 'document'>): ServedNetwork[] {
    const hash = names.hostHash(hostId);
    const routers = routersByNetwork(document);
    return document.networks
      .filter((n) => n.ports.length > 0)
      .map((n) => ({
        networkId: n.id,
        netns: names.networkNetns(hash, n.id),
        dns: Object.fromEntries(
          n.subnets.map((subnet) => [subnet.id, nameServers(subnet, routers.get(n.id), this.resolvers)]),
        ),
      }));
  }

  /** Of a document that could not be planned it is not known what is too much. */
  async leftovers({ hostId, document, signal }: LeftoverSearch): Promise<FoundLeftover[]> {
    if (document === null) return this.unplanned.find(names.hostHash(hostId), null, signal);
    if (this.planned?.generation !== document.generation)
      throw new Error('the networks of this host are not planned yet');
    return this.unplanned.find(names.hostHash(hostId), this.planned.plan, signal);
  }

  unknownMachines(): readonly string[] {
    return this.unknown;
  }

  async converge(request: ConvergeRequest): Promise<PortOutcome[]> {
    await this.prepare();
    let pass = await this.pass(request, request.verify);
    // What was read may have changed while it was being changed: one fresh look before anything is called an error.
    if (pass.failures.size > 0) pass = await this.pass(request, true);
    for (const [what, why] of pass.failures) this.log.warn({ what, why }, 'network not converged');
    return this.outcomes(request, pass);
  }

  private async pass(request: ConvergeRequest, verify: boolean): Promise<Pass> {
    const { hostId, document } = request;
    const section = this.config.section<NetworkConfig>('network');
    const hash = names.hostHash(hostId);
    const state = await this.store.load();
    const links = await this.links(document, section.linkPool, hash, state);
    this.resolvers = await hostResolvers();
    const plan = planHost(document, {
      hash,
      linkPool: section.linkPool,
      links,
      resolvers: this.resolvers,
      wall: await this.wall(request, hash, state),
    });
    this.planned = { generation: document.generation, plan };
    const { live, dead } = await listNetns(names.netnsPrefix(hash));
    // A namespace that was there and is not: more may be wrong than the document changed.
    const lost = plan.namespaces.some((n) => n.netns !== null && this.done.has(n.netns) && !live.has(n.netns));
    const pass: Pass = {
      hash,
      plan,
      verify: verify || lost,
      state,
      live,
      touched: new Map(),
      actual: new Map(),
      created: new Set(),
      failures: new Map(),
    };
    state.links = links;

    await this.look(pass);
    const unwanted = [...live].filter((name) => !plan.namespaces.some((n) => n.netns === name));
    await this.stopUnwantedDhcp(pass);
    await this.removeLinks(pass);
    await this.deleteNetns(pass, [...unwanted, ...dead]);
    await this.addNetns(pass);
    for (const kinds of [['host', 'instance'], ['network'], ['router']]) {
      await limited(
        [...pass.touched.values()].filter((n) => kinds.includes(n.kind)),
        parallel,
        (n) => this.bring(pass, n),
      );
    }
    await this.ensureDhcp(pass);
    for (const name of Object.keys(state.tables))
      if (!plan.namespaces.some((n) => key(n.netns) === name)) delete state.tables[name];
    await this.store.save(state);
    return pass;
  }

  /** Chooses what to touch and reads it. */
  private async look(pass: Pass): Promise<void> {
    const queue = pass.plan.namespaces.filter(
      (n) =>
        pass.verify || this.done.get(key(n.netns)) !== specHash(n) || (n.netns !== null && !pass.live.has(n.netns)),
    );
    while (queue.length > 0) {
      const batch = queue.splice(0);
      for (const n of batch) pass.touched.set(key(n.netns), n);
      await limited(batch, parallel, async (n) => {
        pass.actual.set(
          key(n.netns),
          n.netns === null || pass.live.has(n.netns) ? await readNamespace(n.netns) : emptyNamespace(),
        );
      });
      // A pair that must be made anew needs both of its ends looked at.
      for (const n of batch) {
        for (const link of n.links) {
          const other = link.peer && pass.plan.namespaces.find((o) => o.netns === link.peer?.netns);
          if (
            other &&
            !pass.touched.has(key(other.netns)) &&
            !queue.includes(other) &&
            !pass.actual.get(key(n.netns))?.links.has(link.name)
          )
            queue.push(other);
        }
      }
    }
  }

  private async removeLinks(pass: Pass): Promise<void> {
    const peerIsThere = (netns: string | null, name: string): boolean =>
      pass.actual.get(key(netns))?.links.has(name) ?? (netns === null || pass.live.has(netns));
    const stale = [...pass.touched.values()].map((n) => {
      const actual = pass.actual.get(key(n.netns)) ?? emptyNamespace();
      return {
        n,
        actual,
        gone: staleLinks(n, actual, n.netns === null ? names.hostLinkPrefix(pass.hash) : null, peerIsThere),
      };
    });
    await limited(
      stale.filter((s) => s.gone.length > 0),
      parallel,
      async ({ n, gone }) => {
        this.log.info({ netns: key(n.netns), links: gone }, 'removing links');
        // Forced: the other end of a pair may just have taken this one along.
        await exec('ip', [...(n.netns === null ? [] : ['-n', n.netns]), '-force', '-batch', '-'], {
          input: `${gone.map((l) => `link del dev ${l}`).join('\n')}\n`,
        }).catch((error: unknown) => this.log.debug({ why: message(error) }, 'some links were gone already'));
      },
    );
    for (const { n, actual, gone } of stale) {
      for (const name of gone) {
        actual.links.delete(name);
        const peer = n.links.find((l) => l.name === name)?.peer;
        if (peer) pass.actual.get(key(peer.netns))?.links.delete(peer.name);
      }
    }
  }

  private async deleteNetns(pass: Pass, gone: string[]): Promise<void> {
    await limited(gone, parallel, async (name) => {
      this.done.delete(name);
      await exec('ip', ['netns', 'del', name]).catch((error: unknown) => pass.failures.set(name, message(error)));
    });
  }

  private async addNetns(pass: Pass): Promise<void> {
    const missing = [...pass.touched.values()].flatMap((n) =>
      n.netns !== null && !pass.live.has(n.netns) ? [n.netns] : [],
    );
    for (const name of missing) pass.created.add(name);
    await ipBatch(
      null,
      missing.map((name) => `netns add ${name}`),
    ).catch((error: unknown) => {
      for (const name of missing) pass.failures.set(name, message(error));
    });
  }

  /** Brings one namespace to its plan: switches, rules, then links, so that nothing passes unfiltered. */
  private async bring(pass: Pass, wanted: WantedNamespace): Promise<void> {
    const name = key(wanted.netns);
    if (pass.failures.has(name)) return;
    const actual = pass.actual.get(name) ?? emptyNamespace();
    const fresh = pass.created.has(name);
    // An end whose maker failed cannot be there; the other ports of the network shall not suffer.
    const links = wanted.links.filter(
      (l) => l.makesPair || !l.peer || actual.links.has(l.name) || !pass.failures.has(key(l.peer.netns)),
    );
    try {
      if (wanted.kind === 'network' && !fresh && !actual.links.has(names.networkBridge))
        await this.stopDhcpOf(pass, wanted);
      if (fresh || pass.verify || wanted.netns === null) await this.sysctls(wanted);
      await this.tables(pass, wanted, fresh);
      await ipBatch(null, missingOverlays(wanted, actual));
      await ipBatch(
        wanted.netns,
        diffNamespace({ ...wanted, links }, actual, sandboxUsers(this.config.core.sandbox).taps),
      );
      if (wanted.kind === 'network' && wanted.netns !== null && (wanted.overlay || pass.verify))
        await bringOverlay(wanted.netns, wanted.overlay ?? null);
      if (links.length === wanted.links.length) this.done.set(name, specHash(wanted));
      else this.done.delete(name);
    } catch (error) {
      this.done.delete(name);
      pass.failures.set(name, message(error));
    }
  }

  private async sysctls(wanted: WantedNamespace): Promise<void> {
    if (wanted.sysctls.length === 0) return;
    if (wanted.netns !== null) {
      await execIn(wanted.netns, 'sysctl', [
        '-q',
        '-e',
        '-w',
        ...wanted.sysctls.map(([name, value]) => `${name}=${value}`),
      ]);
      return;
    }
    for (const [name, value] of wanted.sysctls) await writeFile(`/proc/sys/${name.replaceAll('.', '/')}`, value);
  }

  private async tables(pass: Pass, wanted: WantedNamespace, fresh: boolean): Promise<void> {
    const name = key(wanted.netns);
    const known = fresh ? undefined : pass.state.tables[name];
    if (wanted.tables.length === 0) {
      if (known !== undefined || pass.verify) await this.dropHostTable(pass);
      delete pass.state.tables[name];
      return;
    }
    const want = tablesHash(wanted.tables);
    if (known?.want === want && (!pass.verify || (await listedHash(wanted.netns, wanted.tables)) === known.listed))
      return;
    if (known?.want === want) this.log.info({ netns: name }, 'repairing packet filter');
    delete pass.state.tables[name];
    const shape = shapeHash(wanted.tables);
    // Members of groups alone: the rules stay, if they are what they were.
    if (
      known?.want !== want &&
      known?.shape === shape &&
      (await listedHash(wanted.netns, wanted.tables)) === known.listed
    )
      await loadElements(wanted.netns, wanted.tables, known.sets);
    else await loadTables(wanted.netns, wanted.tables);
    const listed = (await listedHash(wanted.netns, wanted.tables)) ?? '';
    pass.state.tables[name] = { want, listed, shape, sets: elementHashes(wanted.tables) };
  }

  private async dropHostTable(pass: Pass): Promise<void> {
    const table = { family: 'inet', name: names.hostTable(pass.hash) };
    const listed = await execIn(null, 'nft', ['list', 'tables']);
    if (listed.split('\n').includes(`table ${table.family} ${table.name}`)) await dropTable(null, table);
  }

  private async stopDhcpOf(pass: Pass, wanted: WantedNamespace): Promise<void> {
    const dhcp = pass.plan.dhcp.find((d) => d.netns === wanted.netns);
    // Its socket is bound to the bridge that is gone.
    if (dhcp) await this.dnsmasq.stop(dhcp.networkId);
  }

  private async stopUnwantedDhcp(pass: Pass): Promise<void> {
    const wanted = new Set(pass.plan.dhcp.map((d) => d.networkId));
    await limited(
      (await this.dnsmasq.known()).filter((id) => !wanted.has(id)),
      parallel,
      (id) => this.dnsmasq.stop(id),
    );
  }

  private async ensureDhcp(pass: Pass): Promise<void> {
    const changed = pass.plan.dhcp.filter(
      (d) => pass.touched.has(d.netns) || this.dhcpDone.get(d.networkId) !== JSON.stringify(d),
    );
    await limited(
      changed.filter((d) => !pass.failures.has(d.netns)),
      parallel,
      async (d) => {
        try {
          await this.dnsmasq.ensure(d);
          this.dhcpDone.set(d.networkId, JSON.stringify(d));
        } catch (error) {
          this.dhcpDone.delete(d.networkId);
          pass.failures.set(d.netns, message(error));
        }
      },
    );
  }

  private async wall({ document, management }: ConvergeRequest, hash: string, state: LinuxState): Promise<GuestWall> {
    const machines = await addressesOf([...document.egress.hosts, ...management], state.machines);
    state.machines = Object.fromEntries(
      Object.entries(machines.known).map(([name, addresses]) => [name, [...addresses]]),
    );
    if (machines.unknown.join() !== this.unknown.join())
      this.log.warn(
        { names: machines.unknown },
        machines.unknown.length > 0
          ? "guests have no way out: addresses of the cloud's machines are not found"
          : "guests have their way out again: the addresses of the cloud's machines are known",
      );
    this.unknown = machines.unknown;
    return guestWall({
      hash,
      routes: await readHostRoutes(),
      egress: document.egress,
      machines,
      resolvers: this.resolvers,
    });
  }

  private async links(
    document: ConvergeRequest['document'],
    linkPool: string,
    hash: string,
    state: LinuxState,
  ): Promise<Record<string, number>> {
    const fresh = waysOutHere(document).some((id) => state.links[id] === undefined);
    if (!fresh) return assignLinks(document, linkPool, state.links, new Set());
    const host = await readNamespace(null);
    const taken = [...host.links.values()]
      .filter((l) => !l.name.startsWith(names.hostLinkPrefix(hash)))
      .flatMap((l) => l.addresses.map((a) => a.split('/')[0] ?? ''));
    const usedPool = new Set(taken.filter((a) => inPool(linkPool, a)));
    return assignLinks(document, linkPool, state.links, usedPool);
  }

  private outcomes({ document }: ConvergeRequest, pass: Pass): PortOutcome[] {
    const errors = new Map<string, string>();
    for (const n of pass.plan.namespaces) {
      const why = pass.failures.get(key(n.netns));
      if (why !== undefined) for (const id of n.portIds) if (!errors.has(id)) errors.set(id, why);
    }
    return document.networks.flatMap((n) =>
      n.ports.map((p) => ({
        id: p.id,
        state: errors.has(p.id) ? ('error' as const) : ('active' as const),
        message: errors.get(p.id) ?? '',
      })),
    );
  }

  /** Once per process: what the kernel must have, and a warning about a mount namespace of one's own. */
  private prepare(): Promise<void> {
    this.prepared ??= (async () => {
      const bridgeFilter = '/proc/sys/net/bridge/bridge-nf-call-iptables';
      const present = (): Promise<boolean> =>
        access(bridgeFilter).then(
          () => true,
          () => false,
        );
      if (!(await present())) await exec('modprobe', ['br_netfilter']).catch(() => undefined);
      if (!(await present()))
        throw new Error('the kernel has no br_netfilter: packet filters of instances would not hold');
      if (await namesArePrivate()) {
        this.log.warn(
          'the agent has a mount namespace of its own: the network namespaces that it makes are gone after a restart; to run it inside a network namespace use nsenter --net',
        );
      }
    })();
    this.prepared.catch(() => (this.prepared = undefined));
    return this.prepared;
  }
}
