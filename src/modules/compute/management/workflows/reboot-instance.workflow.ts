import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { instanceReboot } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, settleObserved } from './verb-steps';

const input = z.strictObject({ instanceId: field.id, force: z.boolean(), graceSeconds: z.number().int().min(0) });
type Input = z.output<typeof input>;

/** Reboots the guest; forced: resets it without asking. */
@injectable()
export class RebootInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps) {
    super();
    this.definition = defineWorkflow<Input>('instance.reboot', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '20m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote('reboot-vmm', {
        title: 'Reboot the virtual machine',
        verb: instanceReboot,
        node: (c) => c.out.begin.hostId,
        args: (c) => ({ instanceId: c.input.instanceId, force: c.input.force, graceSeconds: c.input.graceSeconds }),
        retry: { attempts: 3 },
        noUndo: 'a reboot leaves nothing to take back',
      })
      .tx(
        'settle',
        settleObserved(steps, 'Running', (c) => c.out['reboot-vmm']),
      );
  }
}
