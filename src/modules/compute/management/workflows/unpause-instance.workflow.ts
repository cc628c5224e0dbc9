import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { instancePause } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, goneOn, settleObserved } from './verb-steps';

const input = z.strictObject({ instanceId: field.id });
type Input = z.output<typeof input>;

/** A paused instance goes on where it stood still. */
@injectable()
export class UnpauseInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps) {
    super();
    this.definition = defineWorkflow<Input>('instance.unpause', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote('unpause-vmm', {
        title: 'Resume the virtual machine',
        verb: instancePause,
        node: (c) => c.out.begin.hostId,
        args: (c) => steps.paused(c.op, c.input.instanceId, false),
        noUndo: goneOn,
      })
      .tx(
        'settle',
        settleObserved(steps, 'Running', (c) => c.out['unpause-vmm'], 'running'),
      );
  }
}
