import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { Container } from 'inversify';
import pino from 'pino';
import { Config } from '../../../src/core/config/config';
import { coreConfigSchema } from '../../../src/core/config/core-config';
import { StatePaths } from '../../../src/core/config/state-paths';
import { MasterKey } from '../../../src/core/crypto/master-key';
import { Database } from '../../../src/core/db/database';
import type { Op } from '../../../src/core/db/rows/op';
import { type LiveEvent, Outbox } from '../../../src/core/events/outbox';
import { SecretLimiter } from '../../../src/core/http/secret-limiter';
import { RedisClients } from '../../../src/core/redis/redis-clients';
import { bindManagementTransport } from '../../../src/core/m2m/management/management.bindings';
import { bindNodeTransport } from '../../../src/core/m2m/node/node.bindings';
import { HttpsNodeCaller } from '../../../src/core/m2m/management/https-node-caller';
import { NodeGateway } from '../../../src/core/m2m/management/gateway/node-gateway';
import { NodeRegistry } from '../../../src/core/m2m/management/node-registry';
import type { NodeRoutes, StreamHandlers } from '../../../src/core/m2m/management/node-route';
import { CertificateUpkeep } from '../../../src/core/m2m/ca/certificate-upkeep';
import { bindPeriodic } from '../../../src/core/periodic/periodic.bindings';
import { Periodic } from '../../../src/core/periodic/periodic.service';
import { Metrics } from '../../../src/core/telemetry/metrics';
import { NodeAgent } from '../../../src/core/m2m/node/node-agent';
import type { ObservedSink, ObservedSource } from '../../../src/core/m2m/reports/observed';
import { LiveTasks } from '../../../src/core/m2m/reports/live-tasks';
import { VerbEvents } from '../../../src/core/m2m/verbs/verb-events';
import { PostgresLiveTasks } from '../../../src/core/workflow/storage/postgres-live-tasks';
import type { VerbHandlers } from '../../../src/core/m2m/verbs/verb-handler';
import { Logging } from '../../../src/core/telemetry/logging';
import { hostConfigSchema } from '../../../src/modules/host/contract/host.config';
import { hostConditionsOf, inventoryOf } from '../../../src/core/app/declarations';
import { InventoryParts } from '../../../src/core/m2m/reports/inventory-table';
import { HostConditionTypes } from '../../../src/core/m2m/reports/host-condition-types';
import { allModules } from '../../../src/modules/all-modules';
import { VmmInventoryPart } from '../../../src/modules/compute/management/vmms/vmm-inventory.part';
import { PoolInventoryPart } from '../../../src/modules/storage/management/pool-inventory.part';
import { HostClaims, InventoryPart, InventorySource } from '../../../src/modules/host/contract/host.ports';
import { hostEntities } from '../../../src/modules/host/management/host.entities';
import { hostWiring } from '../../../src/modules/host/management/host.wiring';
import { InventorySink } from '../../../src/modules/host/management/observers/inventory.sink';
import { RecordProblemsSink } from '../../../src/modules/host/management/observers/record-problems.sink';
import { RevisionsSink } from '../../../src/modules/host/management/observers/revisions.sink';
import { SilentHostReconciler } from '../../../src/modules/host/management/reconcilers/silent-host.reconciler';
import { hostNodeWiring } from '../../../src/modules/host/node/host-node.wiring';
import { RecordProblemsSource } from '../../../src/modules/host/node/record-problems.source';
import { HostInventorySource } from '../../../src/modules/host/node/inventory.source';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { Workflows } from '../../../src/core/workflow/request/workflows';
import { RecordedWorkflows } from '../../support/recorded-workflows';

const logging = new Logging(pino({ level: process.env['TEST_LOG'] ?? 'silent' }));

class RecordedOutbox extends Outbox {
  readonly events: LiveEvent[] = [];
  async publish(_op: Op, event: LiveEvent): Promise<void> {
    this.events.push(event);
  }
}

class RecordedVerbEvents extends VerbEvents {
  readonly done: { hostId: string; key: string }[] = [];
  readonly progress: { hostId: string; key: string; percent: number; message: string }[] = [];
  async onVerbDone(hostId: string, key: string): Promise<void> {
    this.done.push({ hostId, key });
  }
  async onProgress(hostId: string, key: string, percent: number, message: string): Promise<void> {
    this.progress.push({ hostId, key, percent, message });
  }
}

/** Resolves with the first value that is not undefined or false; fails after `timeoutMs`. */
export const eventually = async <T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 10_000,
): Promise<T> => {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

export const tempDir = (): { path: string; remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), 'vc-m2m-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

interface Tuning {
  m2m?: Record<string, number>;
  host?: Record<string, number>;
}

const configOf = (stateDir: string, tuning: Tuning, compute: Record<string, unknown> = {}, nodePort = 0): Config =>
  new Config(
    coreConfigSchema.parse({
      stateDir,
      management: { listen: '127.0.0.1', port: 0, nodePort, address: '127.0.0.1' },
      compute: { listen: '127.0.0.1', port: 0, ...compute },
      m2m: tuning.m2m ?? {},
    }),
    { host: hostConfigSchema.parse(tuning.host ?? {}) },
  );

/** A management half as it runs in production, without REST. */
export class Management {
  readonly outbox = new RecordedOutbox();
  readonly verbEvents = new RecordedVerbEvents();
  readonly dir = tempDir();
  readonly container = new Container();
  port = 0;
  private db: TestDatabase | undefined;

  static async start(
    tuning: Tuning = {},
    parts: { nodeRoutes?: NodeRoutes[]; sinks?: ObservedSink[] } = {},
  ): Promise<Management> {
    const management = new Management();
    const db = await startTestDatabase({ entities: hostEntities });
    management.db = db;
    const { container } = management;
    container.bind(Database).toConstantValue(db.database);
    container.bind(Config).toConstantValue(configOf(management.dir.path, tuning));
    container.bind(StatePaths).toConstantValue(new StatePaths(management.dir.path, management.dir.path));
    container.bind(Logging).toConstantValue(logging);
    container.bind(MasterKey).toConstantValue(new MasterKey(randomBytes(32)));
    container.bind(Outbox).toConstantValue(management.outbox);
    container.bind(VerbEvents).toConstantValue(management.verbEvents);
    container.bind(Workflows).toConstantValue(new RecordedWorkflows());
    container.bind(LiveTasks).to(PostgresLiveTasks).inSingletonScope();
    const options = { bind: container.bind.bind(container) };
    for (const part of [RedisClients, SecretLimiter]) container.bind<object>(part).toSelf().inSingletonScope();
    bindManagementTransport(options);
    bindPeriodic(options);
    container.bind(Metrics).toConstantValue(new Metrics());
    container.bind(HostConditionTypes).toConstantValue(new HostConditionTypes(hostConditionsOf(allModules)));
    container.bind(InventoryParts).toConstantValue(new InventoryParts(await inventoryOf(allModules)));
    container.bind(InventoryPart).to(VmmInventoryPart);
    container.bind(InventoryPart).to(PoolInventoryPart);
    container.bind(HostClaims).toConstantValue({ claimed: async () => new Map() });
    hostWiring.bind(options as Parameters<typeof hostWiring.bind>[0]);
    management.gateway.register(parts.nodeRoutes ?? [], [
      container.get(RevisionsSink),
      container.get(RecordProblemsSink),
      container.get(InventorySink),
      ...(parts.sinks ?? []),
    ]);
    management.port = await management.gateway.start();
    const periodic = container.get(Periodic);
    periodic.register([container.get(SilentHostReconciler), container.get(CertificateUpkeep)]);
    await periodic.start();
    return management;
  }

  get gateway(): NodeGateway {
    return this.container.get(NodeGateway);
  }
  get caller(): HttpsNodeCaller {
    return this.container.get(HttpsNodeCaller);
  }
  get database(): Database {
    return this.container.get(Database);
  }
  token(): Promise<string> {
    return this.container.get(NodeRegistry).localToken();
  }

  async stop(): Promise<void> {
    await this.container.get(Periodic).stop();
    await this.caller.close();
    await this.gateway.stop();
    await this.db?.close();
    this.dir.remove();
  }
}

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

/** A part of the inventory with a fixed answer. */
export class FixedInventory extends InventorySource {
  constructor(
    readonly part: 'vmms' | 'pools',
    private readonly answer: unknown,
  ) {
    super();
  }
  async collect(): Promise<unknown> {
    return this.answer;
  }
}

export const goodInventory = (): InventorySource[] => [
  new FixedInventory('vmms', [
    { kind: 'simulated', version: '1', accel: 'none', usable: true, reason: '', capabilities: [] },
  ]),
  new FixedInventory('pools', [{ name: 'local', driver: 'local', totalBytes: 10e9, freeBytes: 5e9 }]),
];
