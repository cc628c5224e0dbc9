import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { InstancePorts } from '../../../network/contract/network.ports';
import { applyNetwork } from '../../../network/contract/network.steps';
import { instanceSuspend } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, goneOn, settleObserved } from './verb-steps';

const input = z.strictObject({ instanceId: field.id });
type Input = z.output<typeof input>;

/** A suspended instance goes on where it stood still. */
@injectable()
export class ResumeInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, ports: InstancePorts) {
    super();
    this.definition = defineWorkflow<Input>('instance.resume', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '30m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote(
        'apply-network',
        applyNetwork(ports, (c) => c.out.begin?.hostId, 'the document is the same whether it runs or not'),
      )
      .remote('resume-vmm', {
        title: 'Bring the virtual machine back from its host’s disk',
        verb: instanceSuspend,
        node: (c) => c.out.begin.hostId,
        args: (c) => steps.suspended(c.op, c.input.instanceId, false),
        noUndo: goneOn,
      })
      .tx(
        'settle',
        settleObserved(steps, 'Running', (c) => c.out['resume-vmm'], 'running'),
      );
  }
}
