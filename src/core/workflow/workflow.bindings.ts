import type { ContainerModuleLoadOptions } from 'inversify';
import { VerbEvents } from '../m2m/verb-events';
import { WorkflowEngine } from './workflow-engine';
import { Workflows } from './workflows';

/** The engine under its own name, as services see it, and as nodes report to it. `Outbox`, `NodeCaller` and the rest are bound by their own parts. */
export const bindWorkflow = ({ bind }: ContainerModuleLoadOptions): void => {
  bind(WorkflowEngine).toSelf().inSingletonScope();
  bind(Workflows).toService(WorkflowEngine);
  bind(VerbEvents).toService(WorkflowEngine);
};
