import 'reflect-metadata';
import type { Duplex } from 'node:stream';
import { injectable, type ContainerModuleLoadOptions } from 'inversify';
import type { PoolClient } from 'pg';
import { ManagementApp } from '../../src/core/app/management-app';
import type { ModuleManifest } from '../../src/core/app/module-manifest';
import { Service } from '../../src/core/lifecycle/service';
import { configSchemasOf } from '../../src/core/app/declarations';
import { loadConfig } from '../../src/core/config/config-loader';
import { Database } from '../../src/core/db/database';
import { poolOf } from '../../src/core/db/library-internals';
import { HttpsNodeCaller } from '../../src/core/m2m/management/https-node-caller';
import {
  type CallInTurn,
  type CallsInTurn,
  NodeCaller,
  NodeUnreachableError,
  type CallOptions,
  type CallOutcome,
} from '../../src/core/m2m/management/node-caller';
import type { Verb } from '../../src/core/m2m/verbs/verb';
import { createLogger } from '../../src/core/telemetry/create-logger';
import { Logging } from '../../src/core/telemetry/logging';
import { Metrics } from '../../src/core/telemetry/metrics';
import type { RegistrableDefinition } from '../../src/core/workflow/definition/definition-registry';
import { WorkflowEngine } from '../../src/core/workflow/engine/workflow-engine';
import { PermanentError } from '../../src/core/workflow/definition/workflow-error';
import { WorkflowProbe, type ProbeBoundary } from '../../src/core/workflow/run/workflow-probe';
import { WorkflowSettings } from '../../src/core/workflow/workflow-settings';
import { chaosModules } from './modules';
import type { Order, Report, Trap } from './messages';
import type { WorkflowShape } from './plan';

const leaseMs = Number(process.env['CHAOS_LEASE_MS']);
/** Locks of a frozen worker are free after this; in production it is the same number as the lease. */
const idleInTransactionMs = leaseMs;

const report = (message: Report): void => void process.send?.(message);

/** Stops the worker's runs at the boundaries that it was told, and makes last steps fail. */
class TrapProbe extends WorkflowProbe {
  readonly traps: Trap[] = [];
  readonly failing = new Set<string>();
  readonly lastSteps = new Map<string, string>();
  private readonly parked: (() => void)[] = [];

  override async at(b: ProbeBoundary): Promise<void> {
    const index = this.traps.findIndex(
      (trap) =>
        !trap.drop &&
        trap.taskId === b.taskId &&
        (trap.at === null || (trap.at.step === b.step && trap.at.phase === b.phase && trap.at.point === b.point)),
    );
    if (index >= 0) {
      this.traps.splice(index, 1);
      const released = new Promise<void>((resolve) => this.parked.push(resolve));
      report({ kind: 'reached', taskId: b.taskId });
      await released;
    }
    if (
      b.phase === 'run' &&
      b.point === 'after-effect' &&
      this.failing.has(b.taskId) &&
      this.lastSteps.get(b.type) === b.step
    ) {
      throw new PermanentError('told_to', 'Told to fail at the last step.');
    }
  }

  go(): void {
    for (const resolve of this.parked.splice(0)) resolve();
  }

  /** Whether the answer under this key is to be lost; once. */
  drops(key: string): boolean {
    const index = this.traps.findIndex(
      (trap) => trap.drop && trap.at !== null && key === `${trap.taskId}/${trap.at.step}/${trap.at.phase}`,
    );
    const [trap] = index < 0 ? [] : this.traps.splice(index, 1);
    if (trap) report({ kind: 'reached', taskId: trap.taskId });
    return trap !== undefined;
  }
}

/** The real way to hosts, on which answers may get lost. */
class ForgetfulCaller extends NodeCaller {
  constructor(
    private readonly real: NodeCaller,
    private readonly probe: TrapProbe,
  ) {
    super();
  }

  override async call<A, R>(hostId: string, verb: Verb<A, R>, args: A, options: CallOptions): Promise<CallOutcome<R>> {
    const outcome = await this.real.call(hostId, verb, args, options);
    if (this.probe.drops(options.key ?? ''))
      throw new NodeUnreachableError(hostId, 'The host does not answer: the answer was lost.');
    return outcome;
  }

  override takesCallsInTurn(hostId: string): boolean {
    return this.real.takesCallsInTurn(hostId);
  }

  override async callInTurn(
    hostId: string,
    calls: readonly CallInTurn[],
    options: Omit<CallOptions, 'key'>,
  ): Promise<CallsInTurn> {
    const all = await this.real.callInTurn(hostId, calls, options);
    if (calls.some(({ key }) => this.probe.drops(key)))
      throw new NodeUnreachableError(hostId, 'The host does not answer: the answer was lost.');
    return all;
  }

  override outcome<A, R>(hostId: string, verb: Verb<A, R>, key: string): Promise<CallOutcome<R>> {
    return this.real.outcome(hostId, verb, key);
  }

  override stream(hostId: string, path: string): Promise<Duplex> {
    return this.real.stream(hostId, path);
  }
}

const probe = new TrapProbe();
const settings = new WorkflowSettings({ leaseMs, outcomePollMs: 200, undoMaxBackoffMs: 500 });
settings.concurrency = 0;
const workflows: WorkflowShape[] = [];

const shapeOf = ({ type, options, steps }: RegistrableDefinition): WorkflowShape => ({
  type,
  version: options.version,
  steps: steps.map((step) => ({
    name: step.name,
    kind: step.kind,
    undo: 'undo' in step.spec && step.spec.undo !== undefined,
  })),
});

/** Shortens what in production is as long as the lease, and obeys the test. */
@injectable()
class WorkerControl extends Service {
  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
  ) {
    super();
  }

  override async start(): Promise<void> {
    const told = new WeakSet<PoolClient>();
    poolOf(this.database.dataSource).on('acquire', (client) => {
      if (told.has(client)) return;
      told.add(client);
      client.query(`SET idle_in_transaction_session_timeout = ${idleInTransactionMs}`).catch(() => undefined);
    });
    process.on('message', (order) => void this.obey(order as Order));
    await Promise.resolve();
  }

  override async stop(): Promise<void> {
    await Promise.resolve();
  }

  private async obey({ claim, traps, failing, go, whenIdle }: Order): Promise<void> {
    if (traps) probe.traps.push(...traps);
    for (const id of failing ?? []) probe.failing.add(id);
    if (claim !== undefined) settings.concurrency = claim ? 32 : 0;
    if (go) probe.go();
    if (!whenIdle) return;
    while ((await this.running()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    report({ kind: 'idle' });
  }

  private async running(): Promise<number> {
    const metric = await this.metrics.registry.getSingleMetric('vcstack_tasks_running')?.get();
    return metric?.values[0]?.value ?? 0;
  }
}

const manifest: ModuleManifest = {
  name: 'chaos',
  needs: chaosModules.map((m) => m.name),
  management: async () => ({
    bind: ({ bind, rebind, onActivation }: ContainerModuleLoadOptions) => {
      bind(WorkflowProbe).toConstantValue(probe);
      bind(WorkflowSettings).toConstantValue(settings);
      bind(WorkerControl).toSelf().inSingletonScope();
      rebind(NodeCaller)
        .toDynamicValue((context) => new ForgetfulCaller(context.get(HttpsNodeCaller), probe))
        .inSingletonScope();
      onActivation(WorkflowEngine, (_context, engine) => {
        const register = engine.register.bind(engine);
        engine.register = (definitions) => {
          for (const definition of definitions) {
            workflows.push(shapeOf(definition));
            probe.lastSteps.set(definition.type, definition.steps[definition.steps.length - 1]?.name ?? '');
          }
          register(definitions);
        };
        return engine;
      });
    },
    services: [WorkerControl],
  }),
};

const main = async (): Promise<void> => {
  const config = await loadConfig({
    modules: await configSchemasOf(chaosModules),
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('VC_STACK_'))),
  });
  const app = new ManagementApp(config, new Logging(createLogger(config)), [...chaosModules, manifest], {
    migrate: true,
  });
  process.once('disconnect', () => process.exit(0));
  await app.start();
  report({ kind: 'started', workflows });
};

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
