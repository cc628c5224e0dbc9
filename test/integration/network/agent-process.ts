import pino from 'pino';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { StatePaths } from '../../../src/core/config/state-paths';
import { RecordProblems } from '../../../src/core/host/records/record-problems';
import { ManagementAddresses } from '../../../src/core/m2m/node/management-addresses';
import type { NodeIdentity } from '../../../src/core/m2m/node/node-identity';
import { Logging } from '../../../src/core/telemetry/logging';
import { networkConfigSchema } from '../../../src/modules/network/contract/network.config';
import { MetadataProvider, type InstanceMetadata } from '../../../src/modules/network/contract/network.ports';
import type { HostNetworkDocument } from '../../../src/modules/network/contract/host-document';
import { AppliedPortAttachments } from '../../../src/modules/network/node/applied-port-attachments';
import { DocumentStore } from '../../../src/modules/network/node/document.store';
import { DnsmasqSupervisor } from '../../../src/modules/network/node/drivers/linux/dnsmasq.supervisor';
import { LinuxLeftovers } from '../../../src/modules/network/node/drivers/linux/linux-leftovers';
import { LinuxNetworkDriver } from '../../../src/modules/network/node/drivers/linux/linux-network.driver';
import { LinuxStateStore } from '../../../src/modules/network/node/drivers/linux/linux-state.store';
import { SimulatedNetworkDriver } from '../../../src/modules/network/node/drivers/simulated-network.driver';
import { GuestViews } from '../../../src/modules/network/node/metadata/guest-views';
import { MetadataService } from '../../../src/modules/network/node/metadata/metadata.service';
import type { ConfirmedLeftover } from '../../../src/modules/host/contract/leftover';
import { HostLeftovers } from '../../../src/modules/host/node/leftovers/host-leftovers';
import { NetworkLeftovers } from '../../../src/modules/network/node/network.leftovers';
import { NetworkAgent } from '../../../src/modules/network/node/network.agent';
import { NetworkService } from '../../../src/modules/network/node/network.service';

/**
 * The node half of the network module alone, inside whatever namespace this process was started in; commands come over
 * IPC.
 */
export interface AgentOptions {
  hostId: string;
  stateDir: string;
  runDir: string;
  /** Where management is. */
  management?: string;
  metadata: Record<string, Omit<InstanceMetadata, 'userData'> & { userData: string }>;
}
export type AgentCall =
  | { method: 'apply'; document: HostNetworkDocument }
  | { method: 'verify' }
  | { method: 'leftovers' }
  | { method: 'remove-leftovers'; leftovers: ConfirmedLeftover[] }
  | { method: 'of'; instanceId: string; portIds: string[] }
  | { method: 'stop' };

const options = JSON.parse(process.argv[2] ?? '{}') as AgentOptions;

class FixedMetadata extends MetadataProvider {
  private readonly passwords = new Map<string, string>();

  override password(instanceId: string): Promise<string> {
    return Promise.resolve(this.passwords.get(instanceId) ?? '');
  }

  override keepPassword(instanceId: string, password: string): Promise<boolean> {
    if (this.passwords.has(instanceId)) return Promise.resolve(false);
    this.passwords.set(instanceId, password);
    return Promise.resolve(true);
  }

  override of(instanceId: string): Promise<InstanceMetadata | null> {
    const found = options.metadata[instanceId];
    return Promise.resolve(found ? { ...found, userData: Buffer.from(found.userData, 'base64') } : null);
  }
}

const paths = new StatePaths(options.stateDir, options.runDir);
const logging = new Logging(pino({ level: process.env.TEST_LOG ?? 'warn' }, pino.destination({ fd: 2, sync: true })));
const config = new Config(coreConfigSchema.parse({}), {
  network: networkConfigSchema.parse({ reconcileSeconds: 3600 }),
});
const identity = {
  current: () => ({ hostId: options.hostId, management: { address: options.management ?? '127.0.0.1', port: 8445 } }),
} as unknown as NodeIdentity;
const driver = new LinuxNetworkDriver(
  config,
  new LinuxStateStore(paths),
  new DnsmasqSupervisor(paths, config),
  new LinuxLeftovers(new DnsmasqSupervisor(paths, config)),
  logging,
);
const agent = new NetworkAgent(
  identity,
  new ManagementAddresses(config),
  config,
  new DocumentStore(paths, new RecordProblems(logging)),
  driver,
  new SimulatedNetworkDriver(),
  logging,
);
const views = new GuestViews();
const service = new NetworkService(agent, new MetadataService(views, logging, new FixedMetadata()), views);
const leftovers = new HostLeftovers(logging, [new NetworkLeftovers(agent)]);
const attachments = new AppliedPortAttachments(agent);

const run = async (call: AgentCall): Promise<unknown> => {
  switch (call.method) {
    case 'apply':
      return agent.apply(call.document);
    case 'verify':
      return agent.verify();
    case 'leftovers':
      return leftovers.list();
    case 'remove-leftovers':
      return leftovers.remove(call.leftovers);
    case 'of':
      return attachments.of(call.instanceId, call.portIds);
    case 'stop':
      await service.stop();
      setImmediate(() => process.disconnect());
      return undefined;
  }
};

process.on('message', (message: { id: number; call: AgentCall }) => {
  run(message.call).then(
    (result) => process.send?.({ id: message.id, result: result ?? null }),
    (error: unknown) =>
      process.send?.({ id: message.id, error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
service.start().then(
  () => process.send?.({ id: 0, result: null }),
  (error: unknown) => process.send?.({ id: 0, error: String(error) }),
);
