import { injectable } from 'inversify';
import { Service } from '../../../core/lifecycle/service';
import { GuestViews } from './metadata/guest-views';
import { MetadataService } from './metadata/metadata.service';
import { NetworkAgent } from './network.agent';

/** The node half's life: the converging agent and the metadata service that follows it. */
@injectable()
export class NetworkService extends Service {
  constructor(
    private readonly agent: NetworkAgent,
    private readonly metadata: MetadataService,
    private readonly views: GuestViews,
  ) {
    super();
  }

  override async start(): Promise<void> {
    this.agent.onConverged((served, document) => {
      this.views.follow(served, document);
      this.metadata.follow(served);
    });
    await this.agent.start();
  }

  override async stop(): Promise<void> {
    await this.agent.stop();
    await this.metadata.stop();
  }
}
