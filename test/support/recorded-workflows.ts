import { randomUUID } from 'node:crypto';
import type { Op } from '../../src/core/db/rows/op';
import type { WorkflowDefinition } from '../../src/core/workflow/definition/definition';
import { Workflows, type StartedTask } from '../../src/core/workflow/request/workflows';
import type { TaskState } from '../../src/core/workflow/definition/task-state';

/** In place of the engine, for parts of management alone: remembers what was asked for. */
export class RecordedWorkflows extends Workflows {
  readonly started: { type: string; input: unknown }[] = [];

  override start<I>(_op: Op, definition: WorkflowDefinition<I, never>, input: I): Promise<StartedTask> {
    this.started.push({ type: definition.type, input });
    return Promise.resolve({ id: randomUUID(), created: true });
  }

  override cancel(): Promise<'over'> {
    return Promise.resolve('over');
  }

  override wake(): Promise<void> {
    return Promise.resolve();
  }

  override settled(): Promise<TaskState> {
    return Promise.resolve('succeeded');
  }
}
