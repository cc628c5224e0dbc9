import type { ContainerModuleLoadOptions } from 'inversify';
import { VerbEvents } from '../m2m/verb-events';
import { Config } from '../config/config';
import { TaskArchiveRepository } from './task-archive.repository';
import { TaskStanding } from '../m2m/task-standing';
import { TaskStandingRepository } from './task-standing.repository';
import { TaskRetention } from './task-retention.service';
import { WorkflowEngine } from './workflow-engine';
import { WorkflowSettings } from './workflow-settings';
import { Workflows } from './workflows';

/**
 * The engine under its own name, as services see it, and as nodes report to it. `Outbox`, `NodeCaller` and the rest are
 * bound by their own parts. Loaded last: who brings settings of his own comes first.
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
  bind(TaskStanding).to(TaskStandingRepository).inSingletonScope();
  bind(TaskArchiveRepository).toSelf().inSingletonScope();
  bind(TaskRetention).toSelf().inSingletonScope();
  bind(WorkflowEngine).toSelf().inSingletonScope();
  bind(Workflows).toService(WorkflowEngine);
  // A module may stand between the hosts and the engine.
  bind(VerbEvents).toService(WorkflowEngine);
};
