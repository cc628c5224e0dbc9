import { rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { Container } from 'inversify';
import { Config } from '../../../src/core/config/config';
import { StatePaths } from '../../../src/core/config/state-paths';
import { bindNodeTransport } from '../../../src/core/m2m/node/node.bindings';
import type { StreamHandlers } from '../../../src/core/m2m/management/node-route';
import { Periodic } from '../../../src/core/periodic/periodic.service';
import { Metrics } from '../../../src/core/telemetry/metrics';
import { NodeAgent } from '../../../src/core/m2m/node/node-agent';
import type { ObservedSource } from '../../../src/core/m2m/reports/observed';
import type { VerbHandlers } from '../../../src/core/m2m/verbs/verb-handler';
import { Logging } from '../../../src/core/telemetry/logging';
import { InventorySource } from '../../../src/modules/host/contract/host.ports';
import { hostNodeWiring } from '../../../src/modules/host/node/host-node.wiring';
import { RecordProblemsSource } from '../../../src/modules/host/node/record-problems.source';
import { HostInventorySource } from '../../../src/modules/host/node/inventory.source';
import { tempDir, Tuning, configOf, logging, goodInventory } from './harness-parts';

export interface AgentParts {
  name?: string;
  /** The state folder of an earlier agent, to come back as the same host. */
  state?: string;
  port?: number;
  token?: string;
  /** Addresses of management, when the token's is not the one. */
  management?: string[];
  verbs?: VerbHandlers[];
  streams?: StreamHandlers[];
  observed?: ObservedSource[];
  inventory?: InventorySource[];
  tuning?: Tuning;
}

/** A node half as it runs in production. */
export class Agent {
  readonly container = new Container();
  hostId = '';

  constructor(
    readonly dir: string,
    readonly name: string,
  ) {}

  static async start(parts: AgentParts): Promise<Agent> {
    const name = parts.name ?? `node-${randomBytes(4).toString('hex')}`;
    const agent = new Agent(parts.state ?? tempDir().path, name);
    const { container } = agent;
    container.bind(Config).toConstantValue(
      configOf(agent.dir, parts.tuning ?? { m2m: { heartbeatMs: 200, acceptAfterMs: 200 } }, {
        name,
        port: parts.port ?? 0,
        token: parts.token ?? '',
        ...(parts.management && { management: parts.management }),
      }),
    );
    container.bind(StatePaths).toConstantValue(new StatePaths(agent.dir, agent.dir));
    container.bind(Logging).toConstantValue(logging);
    container.bind(Metrics).toConstantValue(new Metrics());
    for (const source of parts.inventory ?? goodInventory()) container.bind(InventorySource).toConstantValue(source);
    const options = { bind: container.bind.bind(container) };
    bindNodeTransport(options);
    hostNodeWiring.bind(options as Parameters<typeof hostNodeWiring.bind>[0]);
    try {
      agent.periodic.register([agent.agent]);
      agent.agent.register({
        verbs: parts.verbs ?? [],
        streams: parts.streams ?? [],
        observed: [container.get(HostInventorySource), container.get(RecordProblemsSource), ...(parts.observed ?? [])],
      });
      agent.hostId = await agent.agent.join();
      await agent.agent.serve();
      await agent.periodic.start();
    } catch (error) {
      await agent.agent.stop();
      if (parts.state === undefined) rmSync(agent.dir, { recursive: true, force: true });
      throw error;
    }
    return agent;
  }

  private get periodic(): Periodic {
    return this.container.get(Periodic);
  }

  get agent(): NodeAgent {
    return this.container.get(NodeAgent);
  }

  async stop(): Promise<void> {
    await this.periodic.stop();
    await this.agent.stop();
  }

  async destroy(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
