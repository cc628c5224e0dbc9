import type { ContainerModuleLoadOptions, Newable } from 'inversify';
import { Config } from '../config/config';
import { LiveTasks } from '../m2m/reports/live-tasks';
import { VerbEvents } from '../m2m/verbs/verb-events';
import { TaskArchiveRepository } from './archive/task-archive.repository';
import { TaskRetention } from './archive/task-retention.service';
import { DefinitionRegistry } from './definition/definition-registry';
import { LeaseKeeper } from './engine/lease-keeper';
import { TaskPump } from './engine/task-pump';
import { WorkerIdentity } from './engine/worker-identity';
import { WorkflowEngine } from './engine/workflow-engine';
import { EngineWorkflows } from './request/engine-workflows';
import { LockQueue } from './request/lock-queue';
import { TaskWaiters } from './request/task-waiters';
import { StepProgress } from './request/step-progress';
import { TaskOperations } from './request/task-operations';
import { TaskQueue } from './request/task-queue';
import { EngineVerbEvents } from './request/engine-verb-events';
import { WakeUps } from './request/wake-ups';
import { Workflows } from './request/workflows';
import { Checkpoints } from './run/checkpoints';
import { Intents } from './run/intents';
import { ForwardPhase } from './run/forward-phase';
import { LocalWork } from './run/local-work';
import { StepObserver } from './run/step-observer';
import { AllSteps } from './run/steps/all-steps';
import { ChildrenSteps } from './run/steps/children-steps';
import { LocalSteps } from './run/steps/local-steps';
import { RemoteSteps } from './run/steps/remote-steps';
import { TxSteps } from './run/steps/tx-steps';
import { WaitSteps } from './run/steps/wait-steps';
import { TaskEnd } from './run/task-end';
import { TaskEvents } from './run/task-events';
import { TaskLocks } from './run/task-locks';
import { TaskRunner } from './run/task-runner';
import { TaskSleep } from './run/task-sleep';
import { TaskSlots } from './run/task-slots';
import { UndoPhase } from './run/undo-phase';
import { WorkflowProbe } from './run/workflow-probe';
import { Workload } from './run/workload';
import { EngineTransactions } from './storage/engine-transactions';
import { TaskChildrenRepository } from './storage/task-children.repository';
import { TaskLockRepository } from './storage/task-lock.repository';
import { TaskRequestRepository } from './storage/task-request.repository';
import { TaskRunRepository } from './storage/task-run.repository';
import { NamedInTasks } from './storage/named-in-tasks';
import { PostgresLiveTasks } from './storage/postgres-live-tasks';
import { WorkflowMetrics } from './workflow-metrics';
import { WorkflowSettings } from './workflow-settings';

/** Each part of the engine, by the folder that it lies in. */
const parts: Newable<object>[] = [
  DefinitionRegistry,
  ...[EngineTransactions, TaskChildrenRepository, TaskLockRepository, TaskRequestRepository, TaskRunRepository],
  ...[EngineWorkflows, LockQueue, TaskWaiters, StepProgress, TaskOperations, TaskQueue, EngineVerbEvents, WakeUps],
  ...[AllSteps, TxSteps, RemoteSteps, LocalSteps, WaitSteps, ChildrenSteps],
  ...[
    Checkpoints,
    Intents,
    ForwardPhase,
    LocalWork,
    StepObserver,
    TaskEnd,
    TaskEvents,
    TaskLocks,
    TaskRunner,
    TaskSleep,
    TaskSlots,
    UndoPhase,
  ],
  ...[LeaseKeeper, TaskPump, WorkerIdentity, WorkflowEngine, WorkflowMetrics, Workload],
  ...[TaskArchiveRepository, TaskRetention],
];

/**
 * The engine, and the ports that it serves. `Outbox`, `NodeCaller` and the rest are bound by their own parts. Loaded
 * last: who brings settings or a probe of his own comes first.
 */
export const bindWorkflow = ({ bind, isBound }: ContainerModuleLoadOptions): void => {
  if (!isBound(WorkflowSettings)) {
    bind(WorkflowSettings)
      .toDynamicValue(({ get }) => {
        const { concurrency, hostConcurrency } = get(Config).core.workflow;
        return new WorkflowSettings({ concurrency, hostConcurrency });
      })
      .inSingletonScope();
  }
  if (!isBound(WorkflowProbe)) bind(WorkflowProbe).toSelf().inSingletonScope();
  for (const part of parts) bind(part).toSelf().inSingletonScope();
  bind(LiveTasks).to(PostgresLiveTasks).inSingletonScope();
  bind(NamedInTasks).toSelf().inSingletonScope();
  bind(Workflows).toService(EngineWorkflows);
  // A module may stand between the hosts and the engine.
  bind(VerbEvents).toService(EngineVerbEvents);
};
