import { injectable } from 'inversify';
import { plainEgress, type HostNetworkDocument, type PortDocument } from '../../contract/host-document';
import type { ServedNetwork } from '../drivers/network-driver';
import type { GuestView } from './guest-view';

/** Which cards the guests of this host have, as the newest document that was applied says. */
@injectable()
export class GuestViews {
  private document: HostNetworkDocument = { generation: 0, networks: [], routers: [], egress: plainEgress };
  private served: readonly ServedNetwork[] = [];

  follow(served: readonly ServedNetwork[], document: HostNetworkDocument): void {
    this.served = served;
    this.document = document;
  }

  /** The port of a network that has this address. */
  port(networkId: string, address: string | undefined): PortDocument | undefined {
    return this.document.networks
      .find((n) => n.id === networkId)
      ?.ports.find((p) => p.addresses.some((one) => one.address === address));
  }

  /** In the user's order, with the DNS servers that DHCP gives out. */
  cards(instanceId: string): GuestView['nics'] {
    return this.document.networks
      .flatMap((network) => {
        const given = this.served.find((n) => n.networkId === network.id)?.dns;
        const subnets = network.subnets.map((subnet) => ({ ...subnet, dns: [...(given?.[subnet.id] ?? subnet.dns)] }));
        return network.ports
          .filter((p) => p.instanceId === instanceId)
          .map((port) => ({ port, network: { ...network, subnets } }));
      })
      .sort((a, b) => a.port.position - b.port.position);
  }
}
