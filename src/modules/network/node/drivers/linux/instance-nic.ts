import {
  type HostNetworkDocument,
  type NetworkDocument,
  type PortDocument,
  type RouterDocument,
  routersByNetwork,
} from '../../../contract/host-document';

/** The metadata service's address; link-local addresses are never routed. */
export const metadataAddress = '169.254.169.254';

/**
 * Marks of frames by direction, set in the bridge table and read in the `inet` one, which sees only the bridge as
 * interface.
 */
export const fromGuest = '0x1';
export const toGuest = '0x2';

export interface InstanceNic {
  port: PortDocument;
  network: NetworkDocument;
  /** Other networks that its network's router joins it with, each with those of its subnets that are on the router. */
  joined: readonly JoinedNetwork[];
}

interface JoinedNetwork {
  networkId: string;
  /** In CIDR form. */
  subnets: readonly string[];
}

/** The networks that a router joins a network with. */
const joinedWith = (
  networkId: string,
  router: RouterDocument | undefined,
  networks: readonly NetworkDocument[],
): JoinedNetwork[] =>
  networks
    .filter(({ id }) => id !== networkId)
    .flatMap(({ id, subnets }) => {
      const on = new Set((router?.interfaces ?? []).filter((i) => i.networkId === id).map((i) => i.subnetId));
      const joined = subnets.filter((subnet) => on.has(subnet.id)).map(({ cidr }) => cidr);
      return joined.length > 0 ? [{ networkId: id, subnets: joined }] : [];
    });

/** The NICs of each instance on these networks of the document, in their order. */
export const nicsByInstance = (
  networks: readonly NetworkDocument[],
  document: HostNetworkDocument,
): Map<string, InstanceNic[]> => {
  const routers = routersByNetwork(document);
  const byInstance = new Map<string, InstanceNic[]>();
  for (const network of networks) {
    const joined = joinedWith(network.id, routers.get(network.id), document.networks);
    for (const port of network.ports) {
      const nics = byInstance.get(port.instanceId) ?? [];
      nics.push({ port, network, joined });
      byInstance.set(port.instanceId, nics);
    }
  }
  for (const nics of byInstance.values())
    nics.sort((a, b) => a.port.position - b.port.position || a.port.id.localeCompare(b.port.id));
  return byInstance;
};
