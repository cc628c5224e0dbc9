import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { stopVmm } from '../../contract/instance.steps';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, settleObserved } from './verb-steps';

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
      .tx('begin', beginOnHost(steps))
      .remote(
        'stop-vmm',
        stopVmm(
          (c) => c.out.begin?.hostId,
          (c) => steps.wanted(c.op, c.input.instanceId),
          ({ graceSeconds }) => graceSeconds,
          'a guest that was asked to stop is not asked to come back',
        ),
      )
      .tx(
        'settle',
        settleObserved(steps, 'Stopped', (c) => c.out['stop-vmm']),
      );
  }
}
