import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { instanceSuspend } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, settleObserved } from './verb-steps';

const input = z.strictObject({ instanceId: field.id });
type Input = z.output<typeof input>;

/** The memory of a running instance goes to its host's disk, and its VMM ends. Undone: it goes on from there. */
@injectable()
export class SuspendInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps) {
    super();
    this.definition = defineWorkflow<Input>('instance.suspend', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '30m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote('suspend-vmm', {
        title: 'Suspend the virtual machine',
        verb: instanceSuspend,
        node: (c) => c.out.begin.hostId,
        args: (c) => steps.suspended(c.op, c.input.instanceId, true),
        retry: { attempts: 3 },
        undo: {
          verb: instanceSuspend,
          node: (c) => c.out.begin?.hostId,
          args: (c) => steps.suspended(c.op, c.input.instanceId, false),
        },
      })
      .tx(
        'settle',
        settleObserved(steps, 'Suspended', (c) => c.out['suspend-vmm'], 'suspended'),
      );
  }
}
