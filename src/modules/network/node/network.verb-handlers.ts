import { injectable } from 'inversify';
import { handle, VerbHandlers, type VerbHandler } from '../../../core/m2m/verbs/verb-handler';
import { networkApply } from '../contract/network.verbs';
import { NetworkAgent } from './network.agent';

@injectable()
export class NetworkVerbHandlers extends VerbHandlers {
  constructor(private readonly agent: NetworkAgent) {
    super();
  }

  override handlers(): VerbHandler[] {
    return [handle(networkApply, (document) => this.agent.apply(document))];
  }
}
