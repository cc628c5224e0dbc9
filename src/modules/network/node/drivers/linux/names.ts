import { idTail as tail, netnsPrefix } from '../../../contract/namespaces';

export { hostHash, idTail as tail, netnsPrefix, networkNetns } from '../../../contract/namespaces';

/**
 * Names of everything that the linux driver makes. All derive from ids, so that a name can be traced to its object by
 * eye. Interface names fit the kernel's 15 characters.
 */
export const instanceNetns = (hash: string, instanceId: string): string => `${netnsPrefix(hash)}i-${tail(instanceId)}`;
export const routerNetns = (hash: string, routerId: string): string => `${netnsPrefix(hash)}r-${tail(routerId)}`;

export const tapName = (portId: string): string => `t${tail(portId)}`;
/** The small bridge between tap and veth. Never plain `br`: iproute2 reads that as a keyword. */
export const portBridgeName = (portId: string): string => `b${tail(portId)}`;
/** The veth's end beside the tap. */
export const vethName = (portId: string): string => `v${tail(portId)}`;
/** The veth's end on the network's bridge. */
export const portName = (portId: string): string => `p${tail(portId)}`;

export const networkBridge = 'vbr';
/** In the network's namespace, towards the other hosts. */
export const overlayLink = 'vx0';
/** In the network's namespace, towards the router. */
export const routerLink = 'rtr0';
/** In the router's namespace, towards a network and towards the host. */
export const routerInside = (networkId: string): string => `n${tail(networkId)}`;
export const routerOutside = 'ext0';

/** Links of this host's routers in the host's own namespace start with this: 7 characters. */
export const hostLinkPrefix = (hash: string): string => `l${hash}`;
export const hostLinkName = (hash: string, routerId: string): string =>
  `${hostLinkPrefix(hash)}${tail(routerId).slice(-8)}`;
export const hostTable = (hash: string): string => `vcstack_${hash}`;

/** Conntrack zone of a NIC, 1 to 65535: an instance's NICs may be on networks with the same addresses. */
export const conntrackZone = (portId: string): number => 1 + (parseInt(tail(portId).slice(-4), 16) % 65_535);
