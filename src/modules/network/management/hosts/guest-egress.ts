import { createHash } from 'node:crypto';
import { injectable } from 'inversify';
import { Config } from '../../../../core/config/config';
import type { Op } from '../../../../core/db/rows/op';
import { Hosts, type SchedulableHost } from '../../../host/contract/host.ports';
import type { NetworkConfig } from '../../contract/network.config';
import type { EgressDocument } from '../../contract/host-document';

const freshMs = 5000;

/** What guests may reach beyond their networks, as hosts are told. */
@injectable()
export class GuestEgress {
  private known: { document: EgressDocument; at: number } | undefined;

  constructor(
    private readonly hosts: Hosts,
    private readonly config: Config,
  ) {}

  /**
   * The same for all hosts; a few seconds old at most. Hosts that were given an older one get the newest by
   * `StaleHostsReconciler`.
   */
  async document(op: Op): Promise<EgressDocument> {
    if (this.known && performance.now() - this.known.at < freshMs) return this.known.document;
    return this.of(await this.hosts.all(op));
  }

  of(hosts: readonly SchedulableHost[]): EgressDocument {
    const { allow, deny } = this.config.section<NetworkConfig>('network').guestEgress;
    const document = { allow, deny, hosts: [...new Set(hosts.map(({ address }) => address))].sort() };
    this.known = { document, at: performance.now() };
    return document;
  }
}

/** Tells whether a host was given what is true now. */
export const digestOf = (egress: EgressDocument): string =>
  createHash('sha256').update(JSON.stringify(egress)).digest('hex');
