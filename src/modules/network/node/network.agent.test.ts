import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Config } from '../../../core/config/config';
import { coreConfigSchema } from '../../../core/config/core-config';
import { RecordProblems } from '../../../core/host/records/record-problems';
import { StatePaths } from '../../../core/config/state-paths';
import { ManagementAddresses } from '../../../core/m2m/node/management-addresses';
import type { NodeIdentity } from '../../../core/m2m/node/node-identity';
import { Logging } from '../../../core/telemetry/logging';
import { networkConfigSchema } from '../contract/network.config';
import { plainEgress, type HostNetworkDocument } from '../contract/host-document';
import { emptyDocument, present } from '../../../../test/support/plain-networks';
import { DocumentStore } from './document.store';
import { DnsmasqSupervisor } from './drivers/linux/dnsmasq.supervisor';
import { LinuxLeftovers } from './drivers/linux/linux-leftovers';
import { LinuxNetworkDriver } from './drivers/linux/linux-network.driver';
import { LinuxStateStore } from './drivers/linux/linux-state.store';
import { SimulatedNetworkDriver } from './drivers/simulated-network.driver';
import { NetworkAgent } from './network.agent';

const portId = '22222222-2222-4222-8222-222222222201';
const instanceId = '33333333-3333-4333-8333-333333333301';
const document = (generation: number): HostNetworkDocument =>
  present({
    generation,
    egress: plainEgress,
    networks: [
      {
        id: '11111111-1111-4111-8111-111111111101',
        subnet: '10.0.0.0/24',
        gateway: '10.0.0.1',
        gatewayMac: '56:43:47:00:00:01',
        dns: [],
        domain: 'd',
        mtu: 1450,
        nat: true,
        ports: [
          {
            id: portId,
            instanceId,
            mac: '56:43:53:00:00:01',
            address: '10.0.0.5',
            hostname: 'h',
            position: 0,
            defaultRoute: true,
          },
        ],
      },
    ],
  });

describe('the agent with the simulated driver', () => {
  const dir = mkdtempSync(join(tmpdir(), 'network-agent-'));
  const paths = new StatePaths(join(dir, 'state'), join(dir, 'run'));
  const logging = new Logging(pino({ level: 'silent' }));
  const config = new Config(coreConfigSchema.parse({}), {
    network: networkConfigSchema.parse({ driver: 'simulated' }),
  });
  const identity = {
    current: () => ({ hostId: 'h', management: { address: '192.0.2.1', port: 8445 } }),
  } as unknown as NodeIdentity;
  const problems = new RecordProblems(logging);
  const passes: number[] = [];
  const agentOf = (): NetworkAgent => {
    const simulated = new SimulatedNetworkDriver();
    const converge = simulated.converge.bind(simulated);
    simulated.converge = (request) => {
      passes.push(request.document.generation);
      return converge(request);
    };
    return new NetworkAgent(
      identity,
      new ManagementAddresses(config),
      config,
      new DocumentStore(paths, problems),
      new LinuxNetworkDriver(
        config,
        new LinuxStateStore(paths),
        new DnsmasqSupervisor(paths, config),
        new LinuxLeftovers(new DnsmasqSupervisor(paths, config)),
        logging,
      ),
      simulated,
      logging,
    );
  };
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('runs the newest of many, remembers it over a restart and refuses older ones', async () => {
    const first = agentOf();
    await first.start();
    expect(first.observed()).toEqual({ generation: -1, failed: [], unknownMachines: [] });
    const results = await Promise.all([3, 1, 7, 5].map((g) => first.apply(document(g))));
    expect(passes).toEqual([7]);
    expect(results.map((r) => [r.generation, r.superseded])).toEqual([
      [7, true],
      [7, true],
      [7, false],
      [7, true],
    ]);
    expect(await first.locate(instanceId, portId)).toEqual({
      netns: null,
      tap: `sim${portId.slice(-12)}`,
      mac: '56:43:53:00:00:01',
      mtu: 1450,
    });
    await first.stop();
    await expect(first.apply(document(8))).rejects.toMatchObject({ code: 'stopping', permanent: false });

    const second = agentOf();
    await second.start();
    expect(await second.locate(instanceId, portId)).toMatchObject({ netns: null });
    expect(passes).toEqual([7, 7]);
    expect(await second.apply(emptyDocument(6))).toMatchObject({
      generation: 7,
      superseded: true,
      ports: [{ id: portId, state: 'active' }],
    });
    expect(passes).toEqual([7, 7]);
    await expect(second.locate(instanceId, '22222222-2222-4222-8222-2222222222ff')).rejects.toMatchObject({
      code: 'port_not_applied',
    });
    expect(await second.apply(emptyDocument(7))).toMatchObject({
      superseded: false,
      ports: [],
    });
    expect(second.observed()).toEqual({ generation: 7, failed: [], unknownMachines: [] });
    await second.stop();
  });

  it.each([
    ['cannot be read', '{"gen', 'unreadable'],
    ['is of a newer agent', '{"version":4,"generation":9,"meshes":[]}', 'newer'],
  ])('leaves networks alone when the document %s, and takes the next one', async (_what, text, kind) => {
    const file = join(dir, 'state', 'network', 'document.json');
    writeFileSync(file, text);
    passes.splice(0);
    const agent = agentOf();
    await agent.start();
    expect([agent.observed().generation, passes]).toEqual([-1, []]);
    expect(problems.list()).toEqual([{ file, kind, reason: expect.stringContaining('network document') }]);
    expect(await agent.apply(document(1))).toMatchObject({ generation: 1, superseded: false });
    expect([passes, problems.list(), readFileSync(`${file}.unread`, 'utf8')]).toEqual([[1], [], text]);
    await agent.stop();
  });
});
