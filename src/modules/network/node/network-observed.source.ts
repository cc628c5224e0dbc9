import { injectable } from 'inversify';
import { ObservedSource } from '../../../core/m2m/reports/observed';
import type { ObservedNetwork } from '../contract/network.observed';
import { NetworkAgent } from './network.agent';
import { UnderlayProbe } from './underlay-probe';

@injectable()
export class NetworkObservedSource extends ObservedSource {
  readonly section = 'network';

  constructor(
    private readonly agent: NetworkAgent,
    private readonly underlay: UnderlayProbe,
  ) {
    super();
  }

  override async collect(): Promise<ObservedNetwork> {
    return { ...this.agent.observed(), underlay: await this.underlay.current() };
  }
}
