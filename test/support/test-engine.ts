import { Container, ContainerModule, type ContainerModuleLoadOptions, type Newable } from 'inversify';
import { Database } from '../../src/core/db/database';
import type { Op } from '../../src/core/db/rows/op';
import { Outbox } from '../../src/core/events/outbox';
import { NodeCaller } from '../../src/core/m2m/management/node-caller';
import { VerbEvents } from '../../src/core/m2m/verbs/verb-events';
import { Logging } from '../../src/core/telemetry/logging';
import { Metrics } from '../../src/core/telemetry/metrics';
import type { WorkflowDefinition } from '../../src/core/workflow/definition/definition';
import type { RegistrableDefinition } from '../../src/core/workflow/definition/definition-registry';
import type { TaskState } from '../../src/core/workflow/definition/task-state';
import { WorkflowEngine } from '../../src/core/workflow/engine/workflow-engine';
import { TaskOperations } from '../../src/core/workflow/request/task-operations';
import { Workflows, type StartedTask, type StartOptions } from '../../src/core/workflow/request/workflows';
import { WorkflowProbe } from '../../src/core/workflow/run/workflow-probe';
import { WorkflowSettings } from '../../src/core/workflow/workflow-settings';
import { bindWorkflow } from '../../src/core/workflow/workflow.bindings';

export interface EngineParts {
  database: Database;
  nodes: NodeCaller;
  outbox: Outbox;
  logging: Logging;
  settings: WorkflowSettings;
  probe?: WorkflowProbe | undefined;
}

/** One engine with all that services, hosts and operators ask of it, wired as in management. */
export class TestEngine {
  private readonly container = new Container({ defaultScope: 'Singleton' });

  constructor(parts: EngineParts) {
    this.container.load(
      new ContainerModule((options: ContainerModuleLoadOptions) => {
        const { bind } = options;
        bind(Database).toConstantValue(parts.database);
        bind(NodeCaller).toConstantValue(parts.nodes);
        bind(Outbox).toConstantValue(parts.outbox);
        bind(Logging).toConstantValue(parts.logging);
        bind(Metrics).toSelf().inSingletonScope();
        bind(WorkflowSettings).toConstantValue(parts.settings);
        bind(WorkflowProbe).toConstantValue(parts.probe ?? new WorkflowProbe());
      }),
      new ContainerModule(bindWorkflow),
    );
  }

  /** Any part of it. */
  part<T>(type: Newable<T>): T {
    return this.container.get(type);
  }

  get engine(): WorkflowEngine {
    return this.container.get(WorkflowEngine);
  }

  get workflows(): Workflows {
    return this.container.get(Workflows);
  }

  get operations(): TaskOperations {
    return this.container.get(TaskOperations);
  }

  register(definitions: readonly RegistrableDefinition[]): void {
    this.engine.register(definitions);
  }

  /** Without arguments: begins to run tasks. With arguments: queues one. */
  start(): Promise<void>;
  start<I>(op: Op, definition: WorkflowDefinition<I, never>, input: I, options: StartOptions): Promise<StartedTask>;
  start<I>(
    op?: Op,
    definition?: WorkflowDefinition<I, never>,
    input?: I,
    options?: StartOptions,
  ): Promise<StartedTask | void> {
    if (op && definition && options) return this.workflows.start(op, definition, input as I, options);
    return this.engine.start();
  }

  stop(): Promise<void> {
    return this.engine.stop();
  }

  cancel(op: Op, taskId: string, by: string): Promise<'asked' | 'too_late' | 'over'> {
    return this.workflows.cancel(op, taskId, by);
  }

  wake(op: Op, lockKey: string): Promise<void> {
    return this.workflows.wake(op, lockKey);
  }

  /** Long enough for a busy machine: without its event a task does not settle in any time. */
  settled(taskId: string, timeoutMs = 60_000): Promise<TaskState> {
    return this.workflows.settled(taskId, timeoutMs);
  }

  onVerbDone(hostId: string, key: string): Promise<void> {
    return this.container.get(VerbEvents).onVerbDone(hostId, key);
  }

  onProgress(hostId: string, key: string, percent: number, message: string): Promise<void> {
    return this.container.get(VerbEvents).onProgress(hostId, key, percent, message);
  }

  retry(op: Op, taskId: string): Promise<void> {
    return this.operations.retry(op, taskId);
  }

  skipStep(op: Op, taskId: string): Promise<string | null> {
    return this.operations.skipStep(op, taskId);
  }

  abandon(op: Op, taskId: string): Promise<void> {
    return this.operations.abandon(op, taskId);
  }
}
