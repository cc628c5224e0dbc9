import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { instanceNmi } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, settleObserved } from './verb-steps';

const input = z.strictObject({ instanceId: field.id });
type Input = z.output<typeof input>;

/** A non-maskable interrupt: a guest that hangs may write down where, if it was told to. */
@injectable()
export class NmiInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps) {
    super();
    this.definition = defineWorkflow<Input>('instance.nmi', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '5m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote('nmi-vmm', {
        title: 'Interrupt the virtual machine',
        verb: instanceNmi,
        node: (c) => c.out.begin.hostId,
        args: (c) => ({ instanceId: c.input.instanceId }),
        retry: { attempts: 3 },
        noUndo: 'an interrupt leaves nothing to take back',
      })
      .tx(
        'settle',
        settleObserved(steps, 'Interrupted', (c) => c.out['nmi-vmm']),
      );
  }
}
