import { hostLinkPrefix, hostTable, overlayLink } from './names';
import type { NftTable } from './nft-rules';

/** What a host takes from others, and whom it takes it from. */
export interface OverlayPeers {
  /** UDP port. */
  port: number;
  /** Underlay addresses of hosts that have ports of this host's networks. */
  hosts: readonly string[];
}

/**
 * The host's table with who may send into its networks: the hosts that share one. Whoever else sends to that port is a
 * stranger, and so is a guest, whose packets bear the address of its host once they have left it.
 *
 * @param tables the host's others: one or none
 * @param peers null: no network crosses to this host
 */
export const withOverlayPeers = (tables: readonly NftTable[], hash: string, peers: OverlayPeers | null): NftTable[] => {
  if (peers === null) return [...tables];
  const { port, hosts } = peers;
  return [
    {
      family: 'inet',
      name: hostTable(hash),
      body: [
        'set overlay_hosts {',
        'type ipv4_addr',
        ...(hosts.length > 0 ? [`elements = { ${[...hosts].sort().join(', ')} }`] : []),
        '}',
        'chain overlay_input {',
        'type filter hook input priority -11; policy accept;',
        `udp dport ${port} ip saddr != @overlay_hosts drop`,
        `udp dport ${port} iifname "${hostLinkPrefix(hash)}*" drop`,
        '}',
        'chain overlay_forward {',
        'type filter hook forward priority -11; policy accept;',
        `iifname "${hostLinkPrefix(hash)}*" udp dport ${port} ip daddr @overlay_hosts drop`,
        '}',
        ...tables.flatMap((table) => table.body),
      ],
    },
  ];
};

/**
 * What may come from other hosts: nothing that is meant for all, and nothing for the gateway, DHCP or metadata, which
 * each host has for its own guests under the same MAC.
 */
export const overlayTable = (gatewayMac: string): NftTable => ({
  family: 'bridge',
  name: 'vcs',
  body: [
    'chain prerouting {',
    'type filter hook prerouting priority -300; policy accept;',
    `iifname != "${overlayLink}" accept`,
    'ether daddr & 01:00:00:00:00:00 == 01:00:00:00:00:00 drop',
    `ether daddr ${gatewayMac} drop`,
    '}',
  ],
});
