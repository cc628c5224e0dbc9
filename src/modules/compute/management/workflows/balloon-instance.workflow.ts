import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { instanceBalloon } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, settleObserved } from './verb-steps';

const input = z.strictObject({ instanceId: field.id, memoryBytes: field.bytes });
type Input = z.output<typeof input>;

/** The guest of an instance that runs keeps so much of its memory, and its host has the rest. */
@injectable()
export class BalloonInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps) {
    super();
    this.definition = defineWorkflow<Input>('instance.balloon', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote('balloon-vmm', {
        title: 'Give and take memory of its guest',
        verb: instanceBalloon,
        node: (c) => c.out.begin.hostId,
        args: (c) => ({ instanceId: c.input.instanceId, memoryBytes: c.input.memoryBytes }),
        noUndo: 'its host takes back what its guest did not do; what it did holds until it is asked for otherwise',
      })
      .tx(
        'settle',
        settleObserved(steps, 'Has its memory', (c) => c.out['balloon-vmm']),
      );
  }
}
