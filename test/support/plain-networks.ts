import { ofFirstRevision, type HostNetworkDocument } from '../../src/modules/network/contract/host-document';

/** A document of networks with one subnet and, with `nat`, a router of their own: most tests need no more. */
export type PlainDocument = Parameters<typeof ofFirstRevision>[0];
export type PlainNetwork = PlainDocument['networks'][number];
export type PlainPort = PlainNetwork['ports'][number];

/** The document as it is now, whichever it is. */
export const present = (document: PlainDocument | HostNetworkDocument): HostNetworkDocument =>
  'routers' in document ? document : ofFirstRevision(document);

/** No networks at all. */
export const emptyDocument = (generation: number): HostNetworkDocument =>
  ofFirstRevision({ generation, networks: [], egress: { allow: [], deny: [], hosts: [] } });
