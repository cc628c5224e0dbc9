import type { NetworkDocument, PortDocument } from '../../contract/network.verbs';
import type { InstanceMetadata } from '../../contract/network.ports';

/** Everything that the metadata formats are made of: the asking port, all ports of its instance, and the instance. */
export interface GuestView {
  port: PortDocument;
  nics: { port: PortDocument; network: NetworkDocument }[];
  instance: InstanceMetadata;
}

/** An answer; null stands for 404. */
export type Answer = { body: string | Buffer; type: string } | null;

export const text = (body: string): Answer => ({ body, type: 'text/plain; charset=utf-8' });
export const json = (body: unknown): Answer => ({ body: JSON.stringify(body), type: 'application/json' });
/** User-data exactly as the user gave it. */
export const bytes = (body: Buffer): Answer => ({ body, type: 'application/octet-stream' });
