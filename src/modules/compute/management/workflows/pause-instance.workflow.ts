import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { instancePause } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, settleObserved } from './verb-steps';

const input = z.strictObject({ instanceId: field.id });
type Input = z.output<typeof input>;

/** The vCPUs of a running instance stand still, its memory stays where it is. */
@injectable()
export class PauseInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps) {
    super();
    this.definition = defineWorkflow<Input>('instance.pause', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote('pause-vmm', {
        title: 'Pause the virtual machine',
        verb: instancePause,
        node: (c) => c.out.begin.hostId,
        args: (c) => steps.paused(c.op, c.input.instanceId, true),
        retry: { attempts: 3 },
        undo: {
          verb: instancePause,
          node: (c) => c.out.begin?.hostId,
          args: (c) => steps.paused(c.op, c.input.instanceId, false),
        },
      })
      .tx(
        'settle',
        settleObserved(steps, 'Paused', (c) => c.out['pause-vmm'], 'paused'),
      );
  }
}
