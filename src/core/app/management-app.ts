import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Newable } from 'inversify';
import type { Config } from '../config/config';
import { StatePaths } from '../config/state-paths';
import { MasterKey } from '../crypto/master-key';
import { PermissionCatalogue } from '../auth/permissions/permission-catalogue';
import { createDataSource } from '../db/data-source';
import { Database } from '../db/database';
import { EmbeddedPostgres } from '../db/embedded/embedded-postgres';
import { EmbeddedPostgresWatch } from '../db/embedded/embedded-postgres-watch';
import { loadMigrations, refuseNewerSchema, runMigrations, schemaStatus } from '../db/migrations';
import { ProblemHints } from '../errors/problem-hints';
import { bindEvents } from '../events/events.bindings';
import { EventDispatcher } from '../events/event-dispatcher';
import { EventsController } from '../events/events.controller';
import { LiveGateway } from '../events/live-gateway';
import { bindHttp } from '../http/http.bindings';
import { HealthChecks } from '../http/server/health-checks';
import { HttpServer } from '../http/server/http-server';
import { Channels } from '../auth/channels/channels';
import { SocketGateway } from '../http/sockets/socket-gateway';
import { CertificateUpkeep } from '../m2m/ca/certificate-upkeep';
import { bindPeriodic } from '../periodic/periodic.bindings';
import type { PeriodicWorks } from '../periodic/periodic-work';
import { Periodic } from '../periodic/periodic.service';
import { Pruning } from './pruning.service';
import { RedisClients } from '../redis/redis-clients';
import { ServerIdentity } from '../m2m/ca/server-identity';
import { bindManagementTransport } from '../m2m/management/management.bindings';
import { DeclaredMetrics } from '../telemetry/declared-metrics';
import { Metrics } from '../telemetry/metrics';
import type { AnyVerb } from '../m2m/verbs/verb';
import { InventoryParts } from '../m2m/reports/inventory-table';
import { HostConditionTypes } from '../m2m/reports/host-condition-types';
import { NodeGateway } from '../m2m/management/gateway/node-gateway';
import { NodeRegistry } from '../m2m/management/node-registry';
import { Logging } from '../telemetry/logging';
import { TaskRetention } from '../workflow/archive/task-retention.service';
import { bindWorkflow } from '../workflow/workflow.bindings';
import type { WorkflowDefinition } from '../workflow/definition/definition';
import { WorkflowEngine } from '../workflow/engine/workflow-engine';
import { buildVersion } from '../config/build-version';
import {
  auditEvents,
  hintsOf,
  hostConditionsOf,
  inventoryOf,
  metricsOf,
  verbsOf,
  auditCalls,
  type CallingWorkflow,
  permissionsOf,
} from './declarations';
import { getAll, load, roleContainer } from './container';
import { Lifecycle } from '../lifecycle/lifecycle';
import type { ManagementWiring, ModuleManifest } from './module-manifest';
import type { Service } from '../lifecycle/service';
import { sortModules } from './module-registry';

export interface ManagementOptions {
  /** Applies missing migrations instead of refusing to start. Always so on the embedded PostgreSQL. */
  migrate: boolean;
}

/** Core's own. */
const ownPeriodic = [Pruning, TaskRetention, CertificateUpkeep, Channels, SocketGateway];

/** What all modules together have of one kind. */
type All = <T>(pick: (wiring: ManagementWiring) => readonly T[] | undefined) => T[];

/** The management role. Phases: manifests, database, migrations, bind, init, listen; `stop` goes back the same way. */
export class ManagementApp {
  private readonly lifecycle: Lifecycle;
  private container: Container | undefined;
  private watch: EmbeddedPostgresWatch | undefined;
  private verbs: Readonly<Record<string, AnyVerb>> = {};

  constructor(
    private readonly config: Config,
    private readonly logging: Logging,
    private readonly manifests: readonly ModuleManifest[],
    private readonly options: ManagementOptions,
  ) {
    this.lifecycle = new Lifecycle(logging.for('app'));
  }

  async start(): Promise<void> {
    const modules = sortModules(this.manifests);
    const permissions = new PermissionCatalogue(permissionsOf(modules));
    const hints = new ProblemHints(hintsOf(modules));
    auditEvents(modules);
    const conditions = new HostConditionTypes(hostConditionsOf(modules));
    this.verbs = await verbsOf(modules);
    const metrics = metricsOf(modules);
    const inventory = new InventoryParts(await inventoryOf(modules));
    const wirings = (await Promise.all(modules.map((m) => m.management?.()))).filter(
      (w): w is ManagementWiring => w !== undefined,
    );
    const paths = new StatePaths(join(this.config.core.stateDir, 'management'), join(this.config.core.runDir, 'm'));
    const database = await this.connect(modules);
    const masterKey = await MasterKey.load(paths.state);

    const container = roleContainer(this.config, this.logging, paths);
    this.container = container;
    container.bind(Database).toConstantValue(database);
    container.bind(MasterKey).toConstantValue(masterKey);
    container.bind(PermissionCatalogue).toConstantValue(permissions);
    container.bind(ProblemHints).toConstantValue(hints);
    container.bind(Pruning).toSelf().inSingletonScope();
    container.bind(HostConditionTypes).toConstantValue(conditions);
    container.bind(DeclaredMetrics).toConstantValue(new DeclaredMetrics(container.get(Metrics), metrics));
    container.bind(InventoryParts).toConstantValue(inventory);
    load(
      container,
      bindPeriodic,
      bindEvents,
      bindHttp,
      bindManagementTransport,
      ...wirings.map((w) => w.bind),
      bindWorkflow,
    );

    const all: All = (pick) => wirings.flatMap((w) => pick(w) ?? []);
    this.mount(container, all);
    this.watchHealth(container.get(HealthChecks), database);
    await this.run(container, all);
    // Whoever started this process compares it with what answers on the port.
    await mkdir(paths.run, { recursive: true, mode: 0o755 });
    await writeFile(paths.runDir('instance'), `${container.get(HttpServer).instance}\n`);
  }

  async stop(): Promise<void> {
    await this.lifecycle.stop();
  }

  /** `https://address:port` of REST and console. */
  get url(): string {
    return this.parts().get(HttpServer).address;
  }

  /** An enrolment token for the compute role of this very process (`vc-stack all`). */
  localToken(): Promise<string> {
    return this.parts().get(NodeRegistry).localToken();
  }

  /** Workflows, routes and verbs of all modules, each audited as it is added. */
  private mount(container: Container, all: All): void {
    const workflows = getAll(
      container,
      all((w) => w.workflows),
    );
    auditCalls(
      workflows.map((w) => w.definition as unknown as CallingWorkflow),
      this.verbs,
    );
    container.get(WorkflowEngine).register(workflows.map((w) => w.definition as WorkflowDefinition));
    const controllers = getAll(
      container,
      all((w) => w.controllers),
    );
    const sockets = getAll(
      container,
      all((w) => w.sockets),
    );
    container.get(HttpServer).mount([...controllers, container.get(EventsController)], sockets, {
      inventory: container.get(InventoryParts).table,
    });
    const nodeRoutes = getAll(
      container,
      all((w) => w.nodeRoutes),
    );
    const observed = getAll(
      container,
      all((w) => w.observed),
    );
    container.get(NodeGateway).register(nodeRoutes, observed);
    container.get(Periodic).register(getAll<PeriodicWorks>(container, [...ownPeriodic, ...all((w) => w.periodic)]));
  }

  /** Starts everything in order; `stop` ends it in the reverse one. REST listens last, when all behind it is ready. */
  private async run(container: Container, all: All): Promise<void> {
    const { lifecycle } = this;
    const run = (name: string, part: { start(): Promise<unknown>; stop(): Promise<void> }): Promise<unknown> =>
      lifecycle.run(
        name,
        () => part.start(),
        () => part.stop(),
      );
    const services = async (classes: readonly Newable<Service>[]): Promise<void> => {
      for (const service of classes) await run(service.name, container.get(service));
    };
    const redis = container.get(RedisClients);
    await lifecycle.run(
      'redis',
      async () => redis,
      () => redis.close(),
    );
    await services([EventDispatcher]);
    await run('gateway', container.get(NodeGateway));
    await services(all((w) => w.services));
    await run('workflows', container.get(WorkflowEngine));
    await run('periodic work', container.get(Periodic));
    await run('live', container.get(LiveGateway));
    const http = container.get(HttpServer);
    const identity = container.get(ServerIdentity);
    await lifecycle.run(
      'http',
      () => http.start(tlsOf(identity)),
      () => http.stop(),
    );
    identity.onChange(() => http.setTls(tlsOf(identity)));
  }

  private parts(): Container {
    if (!this.container) throw new Error('management is not started');
    return this.container;
  }

  private async connect(modules: ModuleManifest[]): Promise<Database> {
    const embedded = this.config.core.database.url === '';
    const url = embedded ? await this.startEmbedded() : this.config.core.database.url;
    const entities = (await Promise.all(modules.map((m) => m.entities?.() ?? []))).flat();
    const dataSource = createDataSource(url, {
      pool: this.config.core.database.pool,
      entities,
      migrations: await loadMigrations(),
    });
    const database = new Database(dataSource);
    await this.lifecycle.run(
      'database',
      () => dataSource.initialize(),
      () => database.close(),
    );
    const status = await schemaStatus(dataSource);
    refuseNewerSchema(status, buildVersion);
    const { pending } = status;
    if (pending.length > 0) {
      if (!embedded && !this.options.migrate)
        throw new Error(
          `the database lacks ${pending.length} migrations (${pending.join(', ')}): run \`vc-stack migrate\``,
        );
      await runMigrations(dataSource);
      this.logging.for('app').info({ migrations: pending.length }, 'migrated the database');
    }
    return database;
  }

  /**
   * What the start has looked at may change under a running process: a newer build migrates, the embedded server ends.
   */
  private watchHealth(health: HealthChecks, database: Database): void {
    health.add('schema', async () => {
      const { pending, unknown, newest } = await schemaStatus(database.dataSource);
      const at = `build ${buildVersion}, schema ${newest.database}`;
      if (unknown.length > 0)
        return {
          status: 'degraded',
          message: `${at}: a newer build has changed it, this one knows it up to ${newest.build}`,
        };
      return pending.length > 0
        ? { status: 'unhealthy', message: `${at}: it lacks ${pending.length} migrations` }
        : { status: 'healthy', message: at };
    });
    const { watch } = this;
    if (watch)
      health.add('embedded-postgres', async () =>
        watch.trouble === undefined ? { status: 'healthy' } : { status: 'unhealthy', message: watch.trouble },
      );
  }

  private startEmbedded(): Promise<string> {
    const server = embeddedPostgres(this.config, this.logging);
    const watch = new EmbeddedPostgresWatch(server, this.logging.for('embedded-postgres'));
    this.watch = watch;
    return this.lifecycle.run(
      'embedded-postgres',
      async () => {
        const url = await server.start();
        watch.start();
        return url;
      },
      async () => {
        await watch.stop();
        await server.stop();
      },
    );
  }
}

export const embeddedPostgres = (config: Config, logging: Logging): EmbeddedPostgres =>
  new EmbeddedPostgres(
    {
      directory: join(config.core.stateDir, 'postgres'),
      runDirectory: join(config.core.runDir, 'pg'),
      user: config.core.database.user,
    },
    logging.for('embedded-postgres'),
  );

const tlsOf = (identity: ServerIdentity): { key: string; cert: string } => {
  const { key, chain } = identity.current();
  return { key, cert: chain };
};
