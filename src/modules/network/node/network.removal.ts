import { injectable } from 'inversify';
import { HostRemoval } from '../../../core/app/module-manifest';
import { plainEgress } from '../contract/host-document';
import { DocumentStore } from './document.store';
import { NetworkAgent } from './network.agent';

/** Converges this host to a document without any network. */
@injectable()
export class NetworkRemoval extends HostRemoval {
  constructor(
    private readonly agent: NetworkAgent,
    private readonly documents: DocumentStore,
  ) {
    super();
  }

  override async removeAll(): Promise<void> {
    const last = await this.documents.load();
    await this.agent.apply({ generation: (last?.generation ?? 0) + 1, networks: [], routers: [], egress: plainEgress });
    await this.agent.stop();
  }
}
