import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { InstancePorts } from '../../../network/contract/network.ports';
import { detachPort } from '../../../network/contract/network.steps';
import { instanceDevices } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost } from './verb-steps';

const input = z.strictObject({ instanceId: field.id, portId: field.id });
type Input = z.output<typeof input>;

/**
 * One card less. The guest of a running instance lets it go first, or the task fails and it has it still; then it goes
 * from the host, and with the last step its address is free. Until then everything can be put back.
 */
@injectable()
export class DetachPortWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, ports: InstancePorts) {
    super();
    this.definition = defineWorkflow<Input>('instance.detach-port', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote('detach-nic', {
        title: 'Detach the card',
        verb: instanceDevices,
        node: (c) => c.out.begin.hostId,
        args: (c) => steps.devices(c.op, c.input.instanceId, c.input.portId),
        retry: { attempts: 3 },
        undo: {
          verb: instanceDevices,
          node: (c) => c.out.begin?.hostId,
          args: (c) => steps.devices(c.op, c.input.instanceId),
        },
      })
      .remote(
        'apply-network',
        detachPort(ports, (c) => c.out.begin?.hostId),
      )
      .tx('settle', {
        title: 'Detached',
        run: async (c) => {
          await ports.release(c.op, c.input.instanceId, c.input.portId);
          await steps.keepNics(c.op, c.input.instanceId);
          await steps.settle(c.op, c.input.instanceId, c.taskId, c.out['detach-nic']);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
