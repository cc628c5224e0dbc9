import { vxlanWord, type ActualNamespace } from './ip-state';
import type { WantedLink, WantedNamespace } from './plan';

const kindOf = { bridge: 'bridge', tap: 'tun', veth: 'veth', vxlan: 'vxlan' } as const;

const create = (link: WantedLink, ownNetns: string | null, tapGroup: number): string[] => {
  switch (link.kind) {
    case 'bridge':
      return [`link add name ${link.name} type bridge stp_state 0 forward_delay 0 mcast_snooping 0`];
    case 'tap':
      // Without one it would be anybody's who is in the namespace, or on some kernels root's alone.
      return [`tuntap add dev ${link.name} mode tap group ${tapGroup}`];
    case 'vxlan':
      // Made from the host's namespace before: there its packets leave.
      return [];
    case 'veth': {
      // The host makes its own pairs, so a maker's peer always has a named namespace.
      if (!link.peer || !link.makesPair) return [];
      const where = link.peer.netns === ownNetns ? '' : ` netns ${link.peer.netns}`;
      return [`link add name ${link.name} type veth peer name ${link.peer.name}${where}`];
    }
  }
};

/** Which of a namespace's links are ours: all but the loopback, or those with the prefix in a shared one. */
const owned = (name: string, prefix: string | null): boolean =>
  prefix === null ? name !== 'lo' : name.startsWith(prefix);

/**
 * Links that cannot stay: unknown ones, ones of another kind, and veth ends whose other end is not where it should be.
 * @param peerIsThere whether a namespace has a link of this name
 */
export const staleLinks = (
  wanted: WantedNamespace,
  actual: ActualNamespace,
  ownedPrefix: string | null,
  peerIsThere: (netns: string | null, name: string) => boolean,
): string[] => {
  const byName = new Map(wanted.links.map((l) => [l.name, l]));
  return [...actual.links.values()].flatMap((link) => {
    if (!owned(link.name, ownedPrefix)) return [];
    const want = byName.get(link.name);
    if (!want || link.kind !== kindOf[want.kind]) return [link.name];
    if (want.vxlan && link.vxlan !== vxlanWord(want.vxlan)) return [link.name];
    if (want.peer && !peerIsThere(want.peer.netns, want.peer.name)) return [link.name];
    return [];
  });
};

/**
 * Lines for the host's own namespace that make what a namespace lacks of links to other hosts: the device is in that
 * namespace from its first moment, and its packets leave where it was made.
 */
export const missingOverlays = (wanted: WantedNamespace, actual: ActualNamespace): string[] =>
  wanted.links.flatMap(({ name, vxlan }) =>
    vxlan && wanted.netns !== null && !actual.links.has(name)
      ? [
          `link add name ${name} netns ${wanted.netns} type vxlan id ${vxlan.vni} local ${vxlan.local} dstport ${vxlan.port} nolearning`,
        ]
      : [],
  );

/**
 * The difference between what is and what shall be, removals apart. `actual` no longer has the stale links.
 * Taps are for VMMs, which are in `tapGroup`.
 * A veth end that another namespace creates is taken as just made, with the kernel's defaults.
 */
export const diffNamespace = (wanted: WantedNamespace, actual: ActualNamespace, tapGroup: number): string[] => {
  const lines: string[] = [];
  for (const link of wanted.links) {
    const have = actual.links.get(link.name);
    if (!have) lines.push(...create(link, wanted.netns, tapGroup));
    const set: string[] = [];
    if (link.mac !== undefined && have?.mac !== link.mac) set.push(`address ${link.mac}`);
    if (have?.mtu !== link.mtu) set.push(`mtu ${link.mtu}`);
    if (have?.master !== link.master)
      set.push(link.master === undefined ? (have ? 'nomaster' : '') : `master ${link.master}`);
    if (!have?.up) set.push('up');
    const attributes = set.filter((s) => s !== '');
    if (attributes.length > 0) lines.push(`link set dev ${link.name} ${attributes.join(' ')}`);
    for (const address of have?.addresses ?? [])
      if (!link.addresses.includes(address)) lines.push(`addr del ${address} dev ${link.name}`);
    for (const address of link.addresses)
      if (!have?.addresses.includes(address)) lines.push(`addr add ${address} dev ${link.name}`);
  }
  if (wanted.netns !== null && !actual.links.get('lo')?.up) lines.push('link set dev lo up');
  // The kernel's own have no gateway. A shared namespace has routes of others.
  if (wanted.netns !== null)
    for (const { dst, via, dev } of actual.routes)
      if (via !== undefined && !wanted.routes.some((r) => r.dst === dst && r.via === via && r.dev === dev))
        lines.push(`route del ${dst} via ${via} dev ${dev}`);
  // A route goes with its link: after any change of links it is set again, which is harmless.
  const touched = lines.length > 0;
  for (const route of wanted.routes) {
    const there = actual.routes.some((r) => r.dst === route.dst && r.via === route.via && r.dev === route.dev);
    if (touched || !there) lines.push(`route replace ${route.dst} via ${route.via} dev ${route.dev}`);
  }
  return lines;
};
