import { injectable } from 'inversify';
import type { Op } from '../../../core/db/op';
import { ObservedSink } from '../../../core/m2m/observed';
import { observedNetwork, type ObservedNetwork } from '../contract/network.observed';
import { graceSeconds, HostGenerationRepository } from './host-generation.repository';
import { HostSync } from './host-sync.service';
import { PortRepository } from './port.repository';

/** Takes what a host says of its networks: failed ports are shown, and a host that missed a document (it was away) gets the newest. */
@injectable()
export class NetworkObservedSink extends ObservedSink<ObservedNetwork> {
  readonly section = 'network';
  readonly schema = observedNetwork;

  constructor(
    private readonly generations: HostGenerationRepository,
    private readonly ports: PortRepository,
    private readonly sync: HostSync,
  ) {
    super();
  }

  override async accept(op: Op, hostId: string, data: ObservedNetwork): Promise<void> {
    const { behind, failures } = await this.generations.standing(op, hostId, data.generation, graceSeconds);
    if (failures || data.failed.length > 0) await this.ports.observeFailed(op, hostId, data.failed);
    if (behind) await this.sync.start(op, hostId, { principal: 'system' });
  }
}
