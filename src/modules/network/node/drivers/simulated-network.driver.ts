import { injectable } from 'inversify';
import { NetworkDriver, type ConvergeRequest, type PortOutcome, type ServedNetwork } from './network-driver';

/** Accepts every document and touches nothing: for hosts with the simulated VMM. */
@injectable()
export class SimulatedNetworkDriver extends NetworkDriver {
  async converge({ document }: ConvergeRequest): Promise<PortOutcome[]> {
    return document.networks.flatMap((n) => n.ports.map((p) => ({ id: p.id, state: 'active' as const, message: '' })));
  }

  locate(_hostId: string, _instanceId: string, portId: string): { netns: string | null; tap: string } {
    return { netns: null, tap: `sim${portId.slice(-12)}` };
  }

  unknownMachines(): string[] {
    return [];
  }

  leftovers(): Promise<never[]> {
    return Promise.resolve([]);
  }

  served(): ServedNetwork[] {
    return [];
  }
}
