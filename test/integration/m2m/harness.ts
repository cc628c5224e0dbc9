import { randomBytes } from 'node:crypto';
import { Container } from 'inversify';
import { Config } from '../../../src/core/config/config';
import { StatePaths } from '../../../src/core/config/state-paths';
import { MasterKey } from '../../../src/core/crypto/master-key';
import { Database } from '../../../src/core/db/database';
import type { Op } from '../../../src/core/db/rows/op';
import { type LiveEvent, Outbox } from '../../../src/core/events/outbox';
import { SecretLimiter } from '../../../src/core/http/secret-limiter';
import { RedisClients } from '../../../src/core/redis/redis-clients';
import { bindManagementTransport } from '../../../src/core/m2m/management/management.bindings';
import { HttpsNodeCaller } from '../../../src/core/m2m/management/https-node-caller';
import { NodeGateway } from '../../../src/core/m2m/management/gateway/node-gateway';
import { NodeRegistry } from '../../../src/core/m2m/management/node-registry';
import type { NodeRoutes } from '../../../src/core/m2m/management/node-route';
import { CertificateUpkeep } from '../../../src/core/m2m/ca/certificate-upkeep';
import { bindPeriodic } from '../../../src/core/periodic/periodic.bindings';
import { Periodic } from '../../../src/core/periodic/periodic.service';
import { Metrics } from '../../../src/core/telemetry/metrics';
import type { ObservedSink } from '../../../src/core/m2m/reports/observed';
import { LiveTasks } from '../../../src/core/m2m/reports/live-tasks';
import { VerbEvents } from '../../../src/core/m2m/verbs/verb-events';
import { PostgresLiveTasks } from '../../../src/core/workflow/storage/postgres-live-tasks';
import { Logging } from '../../../src/core/telemetry/logging';
import { hostConditionsOf, inventoryOf } from '../../../src/core/app/declarations';
import { InventoryParts } from '../../../src/core/m2m/reports/inventory-table';
import { HostConditionTypes } from '../../../src/core/m2m/reports/host-condition-types';
import { allModules } from '../../../src/modules/all-modules';
import { VmmInventoryPart } from '../../../src/modules/compute/management/vmms/vmm-inventory.part';
import { PoolInventoryPart } from '../../../src/modules/storage/management/pool-inventory.part';
import { HostClaims, InventoryPart } from '../../../src/modules/host/contract/host.ports';
import { hostEntities } from '../../../src/modules/host/management/host.entities';
import { hostWiring } from '../../../src/modules/host/management/host.wiring';
import { InventorySink } from '../../../src/modules/host/management/observers/inventory.sink';
import { RecordProblemsSink } from '../../../src/modules/host/management/observers/record-problems.sink';
import { RevisionsSink } from '../../../src/modules/host/management/observers/revisions.sink';
import { SilentHostReconciler } from '../../../src/modules/host/management/reconcilers/silent-host.reconciler';
import { startTestDatabase, type TestDatabase } from '../../support/postgres';
import { Workflows } from '../../../src/core/workflow/request/workflows';
import { RecordedWorkflows } from '../../support/recorded-workflows';
import { tempDir, Tuning, configOf, logging } from './harness-parts';

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
