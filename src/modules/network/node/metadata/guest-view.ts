import type { NetworkDocument, PortDocument, SubnetDocument } from '../../contract/host-document';
import type { InstanceMetadata } from '../../contract/network.ports';

/** Everything that the metadata formats are made of: the asking port, all ports of its instance, and the instance. */
export interface GuestView {
  port: PortDocument;
  nics: { port: PortDocument; network: NetworkDocument }[];
  instance: InstanceMetadata;
}

/** The subnet of the address that a card gets by DHCP, with the DNS servers that come with it. */
export const subnetOf = ({ port, network }: GuestView['nics'][number]): SubnetDocument | undefined =>
  network.subnets.find(({ id }) => id === port.addresses[0]?.subnetId);

/** An answer; null stands for 404. */
export type Answer = { body: string | Buffer; type: string } | null;

export const text = (body: string): Answer => ({ body, type: 'text/plain; charset=utf-8' });
export const json = (body: unknown): Answer => ({ body: JSON.stringify(body), type: 'application/json' });
/** User-data exactly as the user gave it. */
export const bytes = (body: Buffer): Answer => ({ body, type: 'application/octet-stream' });
