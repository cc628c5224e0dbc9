import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { stopVmm } from '../../contract/instance.steps';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';

const input = z.strictObject({ instanceId: field.id, graceSeconds: z.number().int().min(0) });
type Input = z.output<typeof input>;

/** Power button, then up to the grace period, then hard. The answer of the host says which it was. */
@injectable()
export class StopInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps) {
    super();
    this.definition = defineWorkflow<Input>('instance.stop', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '20m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', {
        title: 'Check the instance',
        run: async (c) => {
          const instance = await steps.require(c.op, c.input.instanceId);
          if (instance.hostId === null) throw new PermanentError('no_host', 'The instance has no host.');
          return { hostId: instance.hostId };
        },
        noUndo: 'the state is settled when the task ends',
      })
      .remote(
        'stop-vmm',
        stopVmm(
          (c) => c.out.begin?.hostId,
          (c) => steps.wanted(c.op, c.input.instanceId),
          'a guest that was asked to stop is not asked to come back',
        ),
      )
      .tx('settle', {
        title: 'Stopped',
        run: async (c) => {
          await steps.settle(c.op, c.input.instanceId, c.taskId, c.out['stop-vmm']);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
