import { injectable } from 'inversify';
import { atOnce } from '../../../../core/db/at-once';
import type { Op } from '../../../../core/db/rows/op';
import { ObservedSink } from '../../../../core/m2m/reports/observed';
import { HostConditionNotes, type HostConditionFact } from '../../../host/contract/host.ports';
import { observedNetwork, type ObservedNetwork } from '../../contract/network.observed';
import { HostGenerationRepository } from '../hosts/host-generation.repository';
import { UnderlayRepository } from '../overlay/underlay.repository';
import { PortRepository } from '../ports/port.repository';

/**
 * Takes what a host says of its networks: failed ports are shown, which document it has is recorded, and whether its
 * guests have a way out is a condition of the host.
 */
@injectable()
export class NetworkObservedSink extends ObservedSink<ObservedNetwork> {
  readonly section = 'network';
  readonly schema = observedNetwork;

  constructor(
    private readonly generations: HostGenerationRepository,
    private readonly ports: PortRepository,
    private readonly conditions: HostConditionNotes,
    private readonly underlays: UnderlayRepository,
  ) {
    super();
  }

  override async accept(op: Op, hostId: string, data: ObservedNetwork): Promise<void> {
    const [{ failures, underlay }] = await atOnce(
      this.generations.report(op, hostId, data.generation),
      data.unknownMachines && this.conditions.note(op, hostId, guestEgress(data.unknownMachines)),
      data.underlay !== undefined && this.underlays.report(op, hostId, data.underlay),
    );
    // An agent from before networks crossed hosts is in the place of a newer one.
    if (data.underlay === undefined && underlay) await this.underlays.report(op, hostId, null);
    if (failures || data.failed.length > 0) await this.ports.observeFailed(op, hostId, data.failed);
  }
}

const guestEgress = (unknown: readonly string[]): HostConditionFact =>
  unknown.length === 0
    ? {
        type: 'GuestEgress',
        status: 'true',
        reason: 'MachinesKnown',
        message: "its guests have a way out, and not to the cloud's own machines",
      }
    : {
        type: 'GuestEgress',
        status: 'false',
        reason: 'MachinesUnknown',
        message: `its guests have no way out: it does not find the address of ${unknown.join(', ')}, which no guest may reach; let its resolver or its /etc/hosts know the name`,
      };
