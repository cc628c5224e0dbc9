import type { FoundLeftover } from '../../../host/contract/host.ports';
import type { HostNetworkDocument } from '../../contract/host-document';
import type { NetworkApplyResult } from '../../contract/network.verbs';

/** Where to look for what belongs to no document. */
export interface LeftoverSearch {
  hostId: string;
  /** In force; null when management has given none yet. */
  document: HostNetworkDocument | null;
  signal: AbortSignal;
}

export type PortOutcome = NetworkApplyResult['ports'][number];

export interface ConvergeRequest {
  /** Whose things these are: names derive from it. */
  hostId: string;
  document: HostNetworkDocument;
  /** Addresses or names of management, which no guest may reach. */
  management: readonly string[];
  /** Looks at everything instead of only at what the document changed. */
  verify: boolean;
}

/** A network as the metadata service needs it: where to listen. */
export interface ServedNetwork {
  networkId: string;
  /** Name of the namespace in which the service address is. */
  netns: string;
  /** DNS servers that guests of each of its subnets are given. */
  dns: Readonly<Record<string, readonly string[]>>;
}

/** Brings a host to a document. Calls are serialised by the caller. */
export abstract class NetworkDriver {
  /** Converges and says per port of the document how it went; a port that fails does not stop the others. */
  abstract converge(request: ConvergeRequest): Promise<PortOutcome[]>;
  /** Where a VMM finds the NIC of a port. `netns` null when the VMM needs none. */
  abstract locate(hostId: string, instanceId: string, portId: string): { netns: string | null; tap: string };
  /**
   * Names of the cloud's machines whose address the last pass did not know; while there are any, guests have no way
   * out.
   */
  abstract unknownMachines(): readonly string[];
  /**
   * What bears this host's names and is not of the document. Nothing converges meanwhile; `clear` neither calls nor
   * waits for that.
   */
  abstract leftovers(search: LeftoverSearch): Promise<FoundLeftover[]>;
  /** Networks of the document whose namespace is there and wants a metadata service. */
  abstract served(request: Pick<ConvergeRequest, 'hostId' | 'document'>): ServedNetwork[];
}
