import { injectable } from 'inversify';
import { readdir, readlink, rm } from 'node:fs/promises';
import { z } from 'zod';
import { exec } from '../../../../../core/host/processes/exec';
import { VerbFailure } from '../../../../../core/m2m/verbs/verb-handler';
import type { FoundLeftover } from '../../../../host/contract/host.ports';
import { DnsmasqSupervisor } from './dnsmasq.supervisor';
import * as names from './names';
import { execIn, listNetns, netnsInode, netnsPath } from './netns';
import { dropTable } from './nft';
import type { Plan } from './plan';

/** Namespaces whose links are told; the others are named alone. */
const mostOpened = 50;
const mostLinks = 20;

const links = z.array(z.object({ ifname: z.string().optional(), ifindex: z.number().int().optional() }));
const linksIn = async (netns: string | null): Promise<{ name: string; index: number }[]> =>
  links
    .parse(JSON.parse((await exec('ip', [...(netns === null ? [] : ['-n', netns]), '-j', 'link', 'show'])).stdout))
    .flatMap(({ ifname, ifindex }) => (ifname === undefined ? [] : [{ name: ifname, index: ifindex ?? 0 }]));

type Named = Pick<FoundLeftover, 'kind' | 'name' | 'mark' | 'owner' | 'ownerId'>;
const found = (one: Named, clear: () => Promise<void>, holds: string[] = []): FoundLeftover => ({
  since: null,
  bytes: null,
  ...one,
  holds,
  clear,
});

/**
 * What bears this host's names on the machine and is not planned: namespaces with all that is in them, ends of links and
 * the packet filter in the host's own namespace, DHCP servers. Nothing else may be at work on them meanwhile.
 */
@injectable()
export class LinuxLeftovers {
  constructor(private readonly dnsmasq: DnsmasqSupervisor) {}

  /** @param plan of the document in force; null when there is no document */
  async find(hash: string, plan: Plan | null, signal: AbortSignal): Promise<FoundLeftover[]> {
    const parts: FoundLeftover[] = [];
    for (const part of [
      () => this.servers(plan),
      () => this.hostLinks(hash, plan),
      () => this.hostTable(hash, plan),
      () => this.namespaces(hash, plan, signal),
    ]) {
      signal.throwIfAborted();
      parts.push(...(await part()));
    }
    return parts;
  }

  private async servers(plan: Plan | null): Promise<FoundLeftover[]> {
    const planned = new Set(plan?.dhcp.map((dhcp) => dhcp.networkId));
    return (await this.dnsmasq.known())
      .filter((networkId) => !planned.has(networkId))
      .map((networkId) =>
        found(
          { kind: 'dhcp-server', name: networkId, mark: networkId, owner: 'network', ownerId: networkId },
          async () => this.dnsmasq.stop(networkId),
          ['configuration', 'leases'],
        ),
      );
  }

  private async hostLinks(hash: string, plan: Plan | null): Promise<FoundLeftover[]> {
    const planned = new Set(hostOf(plan)?.links.map((link) => link.name));
    return (await linksIn(null))
      .filter(({ name }) => name.startsWith(names.hostLinkPrefix(hash)) && !planned.has(name))
      .map(({ name, index }) =>
        found({ kind: 'network-link', name, mark: String(index), owner: null, ownerId: null }, async () => {
          const now = (await linksIn(null)).find((link) => link.name === name);
          if (now && now.index !== index) throw changed('network-link', name);
          if (now) await exec('ip', ['link', 'del', 'dev', name]);
        }),
      );
  }

  private async hostTable(hash: string, plan: Plan | null): Promise<FoundLeftover[]> {
    if ((hostOf(plan)?.tables.length ?? 0) > 0) return [];
    const table = { family: 'inet', name: names.hostTable(hash) };
    const listed = (await execIn(null, 'nft', ['list', 'tables'])).split('\n');
    if (!listed.includes(`table ${table.family} ${table.name}`)) return [];
    const { name } = table;
    return [
      found({ kind: 'packet-filter', name, mark: name, owner: null, ownerId: null }, async () => {
        await dropTable(null, table);
      }),
    ];
  }

  private async namespaces(hash: string, plan: Plan | null, signal: AbortSignal): Promise<FoundLeftover[]> {
    const planned = new Set(plan?.namespaces.map((namespace) => namespace.netns));
    const { live, dead } = await listNetns(names.netnsPrefix(hash));
    const unplanned = (all: ReadonlySet<string>): string[] => [...all].filter((name) => !planned.has(name)).sort();
    const parts: FoundLeftover[] = [];
    for (const [n, name] of unplanned(live).entries()) {
      signal.throwIfAborted();
      const inode = await netnsInode(name);
      if (inode === null) continue;
      const inside = n < mostOpened ? await linksIn(name).catch(() => []) : [];
      const holds = inside.map((link) => link.name).filter((link) => link !== 'lo');
      parts.push(
        found(
          { kind: 'network-namespace', name, mark: String(inode), ...ownerOf(hash, name) },
          () => removeNamespace(name, inode),
          holds.slice(0, mostLinks),
        ),
      );
    }
    for (const name of unplanned(dead))
      parts.push(
        found({ kind: 'network-namespace', name, mark: 'dead', ...ownerOf(hash, name) }, async () => {
          if ((await listNetns(name)).live.has(name)) throw changed('network-namespace', name);
          await rm(netnsPath(name), { force: true });
        }),
      );
    return parts;
  }
}

/** In the host's own namespace. */
const hostOf = (plan: Plan | null): Plan['namespaces'][number] | undefined =>
  plan?.namespaces.find((namespace) => namespace.netns === null);

/** As the name tells. Whether a network or router is to be here the document alone says. */
const ownerOf = (hash: string, netns: string): Pick<FoundLeftover, 'owner' | 'ownerId'> => {
  const [, letter, tail] = /^([inr])-([0-9a-f]{12})$/.exec(netns.slice(names.netnsPrefix(hash).length)) ?? [];
  if (letter === undefined || tail === undefined) return { owner: null, ownerId: null };
  return { owner: letter === 'i' ? 'instance' : 'network', ownerId: tail };
};

const changed = (kind: string, name: string): VerbFailure =>
  new VerbFailure('leftover_changed', `The ${kind} ${name} is another one by now.`, true);

const removeNamespace = async (name: string, inode: number): Promise<void> => {
  const now = await netnsInode(name);
  if (now === null) return;
  if (now !== inode) throw changed('network-namespace', name);
  if (await isInhabited(inode))
    throw new VerbFailure('leftover_in_use', `Processes run in the network namespace ${name}: end them first.`, true);
  await exec('ip', ['netns', 'del', name]);
};

const isInhabited = async (inode: number): Promise<boolean> => {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
    if ((await readlink(`/proc/${pid}/ns/net`).catch(() => '')) === `net:[${inode}]`) return true;
  return false;
};
