import { injectable } from 'inversify';
import { ObservedSource } from '../../../core/m2m/reports/observed';
import type { ObservedNetwork } from '../contract/network.observed';
import { NetworkAgent } from './network.agent';

@injectable()
export class NetworkObservedSource extends ObservedSource {
  readonly section = 'network';

  constructor(private readonly agent: NetworkAgent) {
    super();
  }

  override collect(): Promise<ObservedNetwork> {
    return Promise.resolve(this.agent.observed());
  }
}
