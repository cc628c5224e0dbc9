import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import type { WorkflowDefinition } from '../../../../core/workflow/definition/definition';
import type { Workflows } from '../../../../core/workflow/request/workflows';
import type { Instance } from '../../contract/compute.api';
import type { InstanceEntity } from './instance.entity';

/** Who asks for something to be done. */
export interface Caller {
  access: Access;
  requestId: string;
}

/** An instance as it is now, and the task that works on it. */
export interface Accepted {
  instance: Instance;
  taskId: string;
}

/** Queues a workflow on an instance in the caller's transaction. */
export const startOn = <I>(
  workflows: Workflows,
  op: Op,
  caller: Caller,
  definition: WorkflowDefinition<I, never>,
  instance: Pick<InstanceEntity, 'id' | 'projectId' | 'name'>,
  input: I,
): Promise<{ id: string }> =>
  workflows.start(op, definition, input, {
    projectId: instance.projectId,
    subject: { kind: 'instance', id: instance.id, name: instance.name },
    createdBy: caller.access.principal.id,
    requestId: caller.requestId,
  });
