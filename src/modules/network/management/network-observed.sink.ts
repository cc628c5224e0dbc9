import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import { ObservedSink } from '../../../core/m2m/observed';
import { observedNetwork, type ObservedNetwork } from '../contract/network.observed';
import { HostGenerationRepository } from './host-generation.repository';
import { PortRepository } from './port.repository';

/** Takes what a host says of its networks: failed ports are shown, and which document it has is recorded. */
@injectable()
export class NetworkObservedSink extends ObservedSink<ObservedNetwork> {
  readonly section = 'network';
  readonly schema = observedNetwork;

  constructor(
    private readonly generations: HostGenerationRepository,
    private readonly ports: PortRepository,
  ) {
    super();
  }

  override async accept(op: Op, hostId: string, data: ObservedNetwork): Promise<void> {
    const { failures } = await this.generations.report(op, hostId, data.generation);
    if (failures || data.failed.length > 0) await this.ports.observeFailed(op, hostId, data.failed);
  }
}
