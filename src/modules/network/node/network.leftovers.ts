import { injectable } from 'inversify';
import { type FoundLeftover, LeftoverSource } from '../../host/contract/host.ports';
import { NetworkAgent } from './network.agent';

/** What bears this host's names and is not of its document; the next look that repairs removes it anyway. */
@injectable()
export class NetworkLeftovers extends LeftoverSource {
  readonly name = 'networks';

  constructor(private readonly agent: NetworkAgent) {
    super();
  }

  override find(signal: AbortSignal): Promise<FoundLeftover[]> {
    return this.agent.leftovers(signal);
  }
}
