import { injectable } from 'inversify';
import { PortAttachments } from '../contract/network.ports';
import { NetworkAgent } from './network.agent';

@injectable()
export class AppliedPortAttachments extends PortAttachments {
  constructor(private readonly agent: NetworkAgent) {
    super();
  }

  override async of(
    instanceId: string,
    portIds: string[],
  ): Promise<{ netns: string | null; nics: { portId: string; tap: string; mac: string; mtu: number }[] }> {
    const located = await Promise.all(
      portIds.map(async (portId) => ({ portId, ...(await this.agent.locate(instanceId, portId)) })),
    );
    return {
      netns: located[0]?.netns ?? null,
      nics: located.map(({ portId, tap, mac, mtu }) => ({ portId, tap, mac, mtu })),
    };
  }
}
