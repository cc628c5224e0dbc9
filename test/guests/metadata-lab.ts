import { plainEgress } from '../../src/modules/network/contract/host-document';
import type { PlainPort } from '../support/plain-networks';
import { HostLab, type Client } from '../integration/network/host-lab';

/**
 * An instance with two cards whose metadata a client sees as its guest would: from a namespace, with the address that
 * DHCP gave.
 */
export interface MetadataLab {
  lab: HostLab;
  client: Client;
  /** In the order of the user's. */
  ports: [PlainPort, PlainPort];
  hostname: string;
  sshKeys: string[];
  close: () => Promise<void>;
}

export const startMetadataLab = async (userData: Buffer): Promise<MetadataLab> => {
  const lab = await HostLab.start('agents');
  try {
    const front = lab.port(1, '10.77.0.11', 'web');
    const back = {
      ...lab.port(2, '10.78.0.12', 'web'),
      instanceId: front.instanceId,
      position: 1,
      defaultRoute: false,
    };
    const sshKeys = [
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH3oZ0EVsXb4bVmSjJeIpKsjTlaLaM5bXFz4b0zHVvX2 one@example',
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB4ob3qsuF8LvRtS3Gm3PJSkAjOMy9WnqyGmF6Dyqq2A two@example',
    ];
    lab.metadata[front.instanceId] = {
      instanceId: front.instanceId,
      name: 'Web',
      hostname: 'web',
      sshKeys,
      userData: userData.toString('base64'),
      vendorData: '',
      flavor: 'small',
      project: 'shop',
      metadata: { role: 'web' },
    };
    await lab.startAgent();
    await lab.apply({
      generation: 1,
      networks: [lab.network(1, [front]), lab.network(2, [back], { subnet: '10.78.0.0/24', gateway: '10.78.0.1' })],
      egress: plainEgress,
    });
    const client = await lab.client(front);
    if ((await lab.lease(client)) === null) throw new Error('no lease');
    return { lab, client, ports: [front, back], hostname: 'web', sshKeys, close: () => lab.close() };
  } catch (error) {
    await lab.close();
    throw error;
  }
};
