import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from '../../src/modules/compute/contract/compute.api';
import { TestCloud } from '../support/cloud';
import { eventually } from '../support/eventually';
import { TestNamespaces } from '../support/namespaces';
import { Endpoint, type Plug } from './endpoint';
import { Place } from './place';

/** Seconds in which what drifted is repaired. */
const repairSeconds = 3;

/** Machines without guests, whose cards are real: the tests plug endpoints in where a VMM would. */
const computeEnv = {
  VC_STACK_MODULES__COMPUTE__DRIVERS: '[simulated]',
  VC_STACK_MODULES__IMAGE__NODE_DRIVER: 'simulated',
  VC_STACK_MODULES__STORAGE__DRIVER: 'simulated',
  VC_STACK_MODULES__NETWORK__RECONCILE_SECONDS: String(repairSeconds),
};

interface Placed {
  host: string;
  network: string;
  project?: string;
  address?: string;
  securityGroups?: readonly string[];
}

/**
 * A cloud of several hosts with endpoints on its networks. It knows nothing of how networks are made: only the API, what
 * a VMM is told, and packets.
 */
export class NetworkLab {
  private readonly endpoints = new Map<string, { endpoint: Endpoint; instance: Instance; key: string }>();
  private readonly namespaces: TestNamespaces;
  private readonly places: Place[] = [];

  private constructor(
    readonly cloud: TestCloud,
    name: string,
  ) {
    this.namespaces = new TestNamespaces(`t-${name}-ends`);
  }

  static async start(name: string, hosts: string[]): Promise<NetworkLab> {
    const cloud = await TestCloud.start(name, {
      hosts,
      computeEnv,
      managementEnv: {
        VC_STACK_MODULES__NETWORK__COOLDOWN_SECONDS: '0',
        VC_STACK_MODULES__HOST__SILENT_AFTER_MS: '8000',
        VC_STACK_MODULES__HOST__CPU_OVERCOMMIT: '64',
      },
    });
    try {
      const blank = Buffer.alloc(1024 * 1024);
      blank.writeUInt16LE(0xaa55, 510);
      await cloud.api.ok('POST', '/projects', { name: 'other' });
      for (const project of ['default', 'other']) {
        const image = await cloud.api.ok('POST', `/images?project=${project}`, { name: 'blank', format: 'raw' });
        await cloud.api.ok('PUT', `/images/${image.id}/content`, blank);
      }
      await cloud.api.ok('POST', '/flavors', { name: 'tiny', vcpus: 1, memoryBytes: 64 * 2 ** 20 });
      return new NetworkLab(cloud, name);
    } catch (error) {
      await cloud.close().catch(() => undefined);
      throw error;
    }
  }

  async network(name: string, subnet: string, project = 'default', nat = true): Promise<void> {
    await this.cloud.api.ok('POST', `/networks?project=${project}`, { name, subnet, nat });
  }

  /** An instance on that host, and an endpoint in the place of its guest, with its lease. */
  async add(name: string, { host, network, project = 'default', address, securityGroups }: Placed): Promise<Endpoint> {
    const { instance, taskId } = await this.cloud.api.ok('POST', `/instances?project=${project}`, {
      name,
      flavor: 'tiny',
      image: 'blank',
      host,
      networks: [
        {
          network,
          ...(address !== undefined && { address }),
          ...(securityGroups && { securityGroups: [...securityGroups] }),
        },
      ],
    });
    await this.cloud.settled(taskId);
    const endpoint = await Endpoint.open(
      name,
      this.namespaces.add(name),
      this.plugOf(host, instance.id),
      this.cloud.directory,
    );
    this.endpoints.set(name, { endpoint, instance, key: `${project}/${network}` });
    if (!(await endpoint.lease())) throw new Error(`${name} got no lease:\n${this.cloud.host(host).tail()}`);
    return endpoint;
  }

  /** Instances without endpoints, all asked for at once, in turn on the hosts. Gives their ids. */
  async crowd(count: number, hosts: readonly string[], network: string): Promise<string[]> {
    const asked = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        this.cloud.api.ok('POST', '/instances?project=default', {
          name: `crowd-${n}`,
          flavor: 'tiny',
          image: 'blank',
          host: hosts[n % hosts.length] ?? '',
          networks: [{ network }],
        }),
      ),
    );
    await Promise.all(asked.map(({ taskId }) => this.cloud.settled(taskId)));
    return asked.map(({ instance }) => instance.id);
  }

  /** All deleted at once. */
  async disperse(ids: readonly string[]): Promise<void> {
    const asked = await Promise.all(ids.map((id) => this.cloud.api.ok('DELETE', `/instances/${id}`)));
    await Promise.all(asked.map(({ taskId }) => this.cloud.settled(taskId)));
  }

  of(name: string): Endpoint {
    const known = this.endpoints.get(name);
    if (!known) throw new Error(`no endpoint ${name}`);
    return known.endpoint;
  }

  instanceOf(name: string): string {
    return this.endpoints.get(name)?.instance.id ?? '';
  }

  /** Its instance is deleted, and its endpoint unplugged. */
  async remove(name: string): Promise<void> {
    const { taskId } = await this.cloud.api.ok('DELETE', `/instances/${this.instanceOf(name)}`);
    await this.cloud.settled(taskId);
    const endpoint = this.of(name);
    await endpoint.close();
    this.namespaces.remove(endpoint.netns);
    this.endpoints.delete(name);
  }

  /** One of the cloud's own machines, `out` (what hosts route to) or `net` (their underlay), to run programs in. */
  place(name: string, called = name): Place {
    const place = new Place(called, this.cloud.namespaceOf(name));
    this.places.push(place);
    return place;
  }

  /** Hosts' addresses on the underlay, by name. */
  async underlay(): Promise<Record<string, string>> {
    const { items } = await this.cloud.api.ok('GET', '/hosts');
    return Object.fromEntries(items.map(({ name, address }) => [name, address]));
  }

  /** Resolves when all endpoints of one network reach each other: other hosts hear of a port a moment later. */
  async connected(timeoutMs = 10_000): Promise<void> {
    const all = [...this.endpoints.values()];
    for (const { endpoint: from, key } of all)
      for (const { endpoint: to } of all.filter((other) => other.key === key && other.endpoint !== from))
        await eventually(`${from.name} reaches ${to.name}`, () => from.ping(to.address), timeoutMs);
  }

  /** Deletes all instances and their networks; what is left on the hosts is told, nothing when all is well. */
  async leftBehind(networks: readonly { name: string; project?: string }[]): Promise<string[]> {
    for (const name of [...this.endpoints.keys()]) await this.remove(name);
    for (const { name, project = 'default' } of networks)
      await this.cloud.api.ok('DELETE', `/networks/${name}?project=${project}`);
    let left: string[] = [];
    await eventually('nothing left', () => (left = this.cloud.leftovers()).length === 0, 15_000).catch(() => undefined);
    return left;
  }

  async close(): Promise<void> {
    for (const place of [...this.places, ...[...this.endpoints.values()].map(({ endpoint }) => endpoint)])
      await place.close();
    this.namespaces.close();
    await this.cloud.close();
  }

  /** As the machine on that host was given it. */
  private plugOf(host: string, instanceId: string): Plug {
    const record = JSON.parse(
      readFileSync(join(this.cloud.directory, host, 'run', 'c', 'i', instanceId, 'simulated.json'), 'utf8'),
    ) as { spec: { netns: string | null; nics: Omit<Plug, 'netns'>[] } };
    const [nic] = record.spec.nics;
    if (!nic) throw new Error(`instance ${instanceId} has no card`);
    return { netns: record.spec.netns, tap: nic.tap, mac: nic.mac, mtu: nic.mtu };
  }
}
