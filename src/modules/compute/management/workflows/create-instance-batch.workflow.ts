import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { childTask, defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { InstanceRepository } from '../instances/instance.repository';
import { CreateInstanceWorkflow } from './create-instance.workflow';
import { DeleteInstanceWorkflow } from './delete-instance.workflow';
import { InstanceSteps } from './instance-steps';

const input = z.strictObject({ instanceIds: z.array(field.id).min(1), project: z.string() });
type Input = z.output<typeof input>;

/**
 * Rows in state `building` become running guests, all of them or none. One that its user deletes meanwhile is not
 * missed. Each is made by a task of its own; when one fails, those that run already are deleted again.
 */
@injectable()
export class CreateInstanceBatchWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(
    steps: InstanceSteps,
    instances: InstanceRepository,
    create: CreateInstanceWorkflow,
    remove: DeleteInstanceWorkflow,
  ) {
    super();
    this.definition = defineWorkflow<Input>('instance.create-batch', {
      version: 1,
      input,
      deadline: '60m',
      whenUndone: (c, error) => steps.removeUnbegun(c.op, c.input.instanceIds, c.taskId, error.message),
    })
      .children('create', {
        title: 'Create each of them',
        start: async (c) =>
          (await instances.lockHeldBy(c.op, c.input.instanceIds, c.taskId)).map(({ id, name }) =>
            childTask(
              create.definition,
              { instanceId: id, project: c.input.project, partOf: c.taskId },
              { kind: 'instance', id, name },
            ),
          ),
        tolerateFailures: true,
        undo: async (c) =>
          (await instances.byIds(c.op, c.input.instanceIds))
            .filter((i) => i.taskId !== c.taskId && i.state !== 'deleting')
            .map(({ id, name }) => childTask(remove.definition, { instanceId: id }, { kind: 'instance', id, name })),
      })
      .tx('check', {
        title: 'Check that all of them run',
        run: async (c) => {
          const failed = c.out.create.filter(({ state }) => state === 'failed');
          const [first] = failed;
          if (first)
            throw new PermanentError(
              'instance_failed',
              `${failed.length} of ${c.out.create.length} could not be made. "${first.subject.name}": ${first.error?.message ?? 'it failed'}`,
              {},
              first.error?.cause,
            );
          if (!c.out.create.some(({ state }) => state === 'succeeded'))
            throw new PermanentError('instances_gone', 'All of them were deleted before they ran.');
          return {};
        },
        noUndo: 'it only looks',
      });
  }
}
