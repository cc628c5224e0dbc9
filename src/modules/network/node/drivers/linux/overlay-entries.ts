import { z } from 'zod';
import { exec } from '../../../../../core/host/processes/exec';
import type { NetworkOverlay } from '../../../contract/overlay-document';
import { networkBridge, overlayLink } from './names';
import { ipBatch } from './netns';

type Remote = NetworkOverlay['remotes'][number];

/** What the kernel has: which MAC is where, and which address has which MAC. */
export interface OverlayEntries {
  /** The bridge's port: floods nothing, learns nothing, answers ARP itself. */
  portAsWanted: boolean;
  /** MACs behind the overlay as the bridge knows them. */
  bridged: Set<string>;
  /** Hosts by MAC, as the overlay's own device knows them. */
  hosts: Map<string, string[]>;
  /** MACs by address, of those that are fixed. */
  neighbours: Map<string, string>;
}

const fdb = z.array(
  z.object({
    mac: z.string(),
    dst: z.string().optional(),
    state: z.string().optional(),
    master: z.string().optional(),
    flags: z.array(z.string()).default([]),
  }),
);
const neighbours = z.array(z.object({ dst: z.string(), lladdr: z.string().optional() }));
const portFlags = {
  learning: false,
  flood: false,
  mcast_flood: false,
  bcast_flood: false,
  neigh_suppress: true,
} as const;
const port = z.array(z.record(z.string(), z.unknown()));

const json = async (program: string, netns: string, ...args: string[]): Promise<unknown> =>
  JSON.parse((await exec(program, ['-n', netns, '-j', ...args])).stdout || '[]');

const readNeighbours = async (netns: string): Promise<Map<string, string>> =>
  new Map(
    neighbours
      .parse(await json('ip', netns, 'neigh', 'show', 'dev', networkBridge, 'nud', 'permanent'))
      .map(({ dst, lladdr }) => [dst, lladdr ?? '']),
  );

/** The link must be there. */
const readEntries = async (netns: string): Promise<OverlayEntries> => {
  const [entries, flags, known] = await Promise.all([
    json('bridge', netns, 'fdb', 'show', 'dev', overlayLink).then((found) => fdb.parse(found)),
    json('bridge', netns, '-d', 'link', 'show', 'dev', overlayLink).then((found) => port.parse(found)[0] ?? {}),
    readNeighbours(netns),
  ]);
  const hosts = new Map<string, string[]>();
  for (const { mac, dst } of entries) if (dst !== undefined) hosts.set(mac, [...(hosts.get(mac) ?? []), dst]);
  return {
    portAsWanted: Object.entries(portFlags).every(([flag, value]) => flags[flag] === value),
    // The port's own is permanent.
    bridged: new Set(entries.filter((e) => e.master !== undefined && e.state === 'static').map(({ mac }) => mac)),
    hosts,
    neighbours: known,
  };
};

/** The difference, for `bridge -batch` and `ip -batch`: what stays is not touched. */
export const diffEntries = (
  remotes: readonly Remote[],
  actual: OverlayEntries,
): { bridge: string[]; neighbours: string[] } => {
  const bridge: string[] = [];
  if (!actual.portAsWanted) {
    const flags = Object.entries(portFlags).map(([flag, value]) => `${flag} ${value ? 'on' : 'off'}`);
    bridge.push(`link set dev ${overlayLink} ${flags.join(' ')}`);
  }
  const wanted = new Map(remotes.map(({ mac, host }) => [mac, host]));
  for (const [mac, hosts] of actual.hosts) {
    // One of several is not replaced, but all of them.
    const goes = hosts.length > 1 ? hosts : wanted.has(mac) ? [] : hosts;
    for (const host of goes) bridge.push(`fdb del ${mac} dev ${overlayLink} self dst ${host}`);
  }
  for (const mac of actual.bridged) if (!wanted.has(mac)) bridge.push(`fdb del ${mac} dev ${overlayLink} master`);
  for (const [mac, host] of wanted) {
    const [only, ...more] = actual.hosts.get(mac) ?? [];
    if (only !== host || more.length > 0) bridge.push(`fdb replace ${mac} dev ${overlayLink} self static dst ${host}`);
    if (!actual.bridged.has(mac)) bridge.push(`fdb replace ${mac} dev ${overlayLink} master static`);
  }
  return { bridge, neighbours: diffNeighbours(remotes, actual.neighbours) };
};

const diffNeighbours = (remotes: readonly Remote[], actual: ReadonlyMap<string, string>): string[] => {
  const wanted = new Map(remotes.flatMap(({ mac, addresses }) => addresses.map((address) => [address, mac])));
  return [
    ...[...actual.keys()]
      .filter((address) => !wanted.has(address))
      .map((address) => `neigh del ${address} dev ${networkBridge}`),
    ...[...wanted]
      .filter(([address, mac]) => actual.get(address) !== mac)
      .map(([address, mac]) => `neigh replace ${address} lladdr ${mac} dev ${networkBridge} nud permanent`),
  ];
};

/** Brings a network's namespace, with its links, to what is on other hosts. Null: the network does not cross. */
export const bringOverlay = async (netns: string, overlay: { remotes: readonly Remote[] } | null): Promise<void> => {
  if (overlay === null) {
    await ipBatch(netns, diffNeighbours([], await readNeighbours(netns)));
    return;
  }
  const { bridge, neighbours: lines } = diffEntries(overlay.remotes, await readEntries(netns));
  if (bridge.length > 0) await exec('bridge', ['-n', netns, '-batch', '-'], { input: `${bridge.join('\n')}\n` });
  await ipBatch(netns, lines);
};
