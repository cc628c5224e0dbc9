import type { InUseBy } from '../../../core/errors/in-use';
import type { Sql } from '../../../core/db/rows/keyset';
import type { Op } from '../../../core/db/rows/op';
import type { DriveForm } from './drive-forms';
import type { HostNetworkDocument } from './host-document';
import type { NetworkApplyResult } from './network.verbs';

export interface InstancePort {
  id: string;
  networkId: string;
  network: string;
  mac: string;
  address: string;
}

/** A card that an instance shall have. */
export interface WantedNic {
  networkId: string;
  address?: string;
  /**
   * The guest's default route goes this way; at most one card says so. Without one it is the first whose network has a
   * way out.
   */
  defaultRoute?: boolean;
  /** Ids of the port's groups; absent: the project's default one. */
  securityGroups?: string[];
}

/** A card that somebody asks for: networks and groups by name or id. */
export interface AskedNic {
  network: string;
  address?: string;
  defaultRoute?: boolean;
  securityGroups?: string[];
}

/** Port (management half): addresses and per-host documents for instances. */
export abstract class InstancePorts {
  /**
   * Resolves and checks networks for new cards, without writing: 404 for unknown, 409 `no_free_address`, 422 when the
   * fixed address is outside, the default route cannot be, or a group is none of the project's. `path` says where the card of an index stands in what was
   * asked.
   */
  abstract check(op: Op, projectId: string, nics: AskedNic[], path: (index: number) => string): Promise<WantedNic[]>;
  /** One port per NIC on the host, in order. Idempotent per instance. 409 `no_free_address` / `address_in_use`. */
  abstract allocate(
    op: Op,
    request: { instanceId: string; projectId: string; hostname: string; hostId: string; nics: WantedNic[] },
  ): Promise<InstancePort[]>;
  /** One more port behind those that the instance has. Idempotent per `portId`. Refuses as `allocate` does. */
  abstract add(
    op: Op,
    request: {
      portId: string;
      instanceId: string;
      projectId: string;
      hostname: string;
      hostId: string;
      nic: WantedNic;
    },
  ): Promise<InstancePort>;
  /** Ensures that the instance has no port, or not this one; addresses cool down. */
  abstract release(op: Op, instanceId: string, portId?: string): Promise<void>;
  abstract of(op: Op, instanceIds: string[]): Promise<Map<string, InstancePort[]>>;
  /**
   * SQL for the ports of one instance, an array of `InstancePort` as JSON: whoever shows instances selects it beside
   * them, so that a page is one statement.
   * @param instanceId SQL for the instance's id, e.g. a column
   */
  abstract shownOf(instanceId: string): Sql<InstancePort[]>;
  /**
   * Instances of the projects with a port whose address or MAC begins with `q`, at most `limit`; none when `q` is the
   * beginning of neither.
   */
  abstract instancesAt(op: Op, projects: 'all' | readonly string[], q: string, limit: number): Promise<string[]>;
  /**
   * The host's whole document with a new generation. Call in a transaction: generations and contents come in the same
   * order.
   * @param change `attach`: an instance whose ports are in it from here on, for something has begun that takes them away
   *   again; `detach`: a port that is not in it from here on
   */
  abstract document(
    op: Op,
    hostId: string,
    change?: { attach: string } | { detach: string },
  ): Promise<HostNetworkDocument>;
  /**
   * Takes what the node answered to `network.apply`; throws `PermanentError` `port_failed` when a port of the instance,
   * or this one of it, is in error.
   */
  abstract applied(op: Op, result: NetworkApplyResult, instanceId?: string, portId?: string): Promise<void>;
}

/** Port (node half): where an instance's NICs are, once `network.apply` made them. */
export abstract class PortAttachments {
  /**
   * The namespace that the VMM must run in and the taps inside it, in the order of `portIds`.
   * `netns` is a name for `ip netns exec`, null when the driver needs none. Throws when a port is not applied.
   */
  abstract of(
    instanceId: string,
    portIds: string[],
  ): Promise<{ netns: string | null; nics: { portId: string; tap: string; mac: string; mtu: number }[] }>;
}

/** Metadata of one instance, as its guest sees it. */
export interface InstanceMetadata {
  instanceId: string;
  name: string;
  hostname: string;
  sshKeys: string[];
  /** Raw user-data as the user gave it, unparsed; empty when none. */
  userData: Buffer;
  /** What the cloud's operator gives guests beside it, in cloud-init's forms; empty when none. */
  vendorData: string;
  flavor: string;
  project: string;
  /** What users gave it by key. */
  metadata: Record<string, string>;
}

/**
 * Port (node half): what the metadata service tells a guest, as files of a drive, for guests that cannot ask it or look
 * for no network.
 */
export abstract class GuestFiles {
  /** Paths are relative. The instance's ports must be applied. */
  abstract of(instance: InstanceMetadata, form: DriveForm): Promise<{ path: string; content: Buffer }[]>;
}

/** Port (node half): implemented by compute; asked by the metadata service, which knows the caller by its port. */
export abstract class MetadataProvider {
  abstract of(instanceId: string): Promise<InstanceMetadata | null>;
  /**
   * The password that the guest made for its administrator, encrypted for the first SSH key, in base64; empty when
   * there is none.
   */
  abstract password(instanceId: string): Promise<string>;
  /** Keeps it, once: false when there is one already. */
  abstract keepPassword(instanceId: string, password: string): Promise<boolean>;
}

/** Port that other modules implement (management half, any number of them): what keeps a network from being deleted. */
export abstract class NetworkUsage {
  /**
   * The first `limit` users of the network, and how many there are; those that have no port yet too. The network's row
   * is locked meanwhile: `InstancePorts.check` in another transaction waits.
   */
  abstract users(
    op: Op,
    network: { id: string; projectId: string },
    limit: number,
  ): Promise<{ first: InUseBy[]; count: number }>;
}
