import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { InstancePorts } from '../../../network/contract/network.ports';
import { applyNetwork } from '../../../network/contract/network.steps';
import { startVmm } from '../../contract/instance.steps';
import { instanceEnsure } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost, settleObserved } from './verb-steps';

const input = z.strictObject({ instanceId: field.id });
type Input = z.output<typeof input>;

/** Starts a stopped instance again on its host, with its disk and addresses. */
@injectable()
export class StartInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, ports: InstancePorts) {
    super();
    this.definition = defineWorkflow<Input>('instance.start', {
      version: 2,
      continues: [1],
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message, true),
    })
      .tx('begin', beginOnHost(steps))
      .remote(
        'apply-network',
        applyNetwork(ports, (c) => c.out.begin?.hostId, 'the document is the same whether it runs or not'),
      )
      .remote(
        'start-vmm',
        startVmm(
          (c) => c.out.begin?.hostId,
          (c) => steps.wanted(c.op, c.input.instanceId),
          {
            verb: instanceEnsure,
            node: (c) => c.out.begin?.hostId,
            args: async (c) => {
              const i = await steps.turnedOff(c.op, c.input.instanceId);
              return {
                instanceId: i.id,
                generation: i.generation,
                spec: await steps.spec(c.op, i),
                power: 'off' as const,
                graceSeconds: 0,
              };
            },
          },
        ),
        { together: true },
      )
      .tx(
        'settle',
        settleObserved(steps, 'Running', (c) => c.out['start-vmm']),
      );
  }
}
