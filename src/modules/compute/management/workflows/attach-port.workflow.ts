import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { InstancePorts } from '../../../network/contract/network.ports';
import { addPort, attachPorts } from '../../../network/contract/network.steps';
import { instanceDevices } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';

const input = z.strictObject({
  instanceId: field.id,
  portId: field.id,
  nic: z.strictObject({
    networkId: field.id,
    address: z.ipv4().optional(),
    securityGroups: z.array(field.id).optional(),
  }),
});
type Input = z.output<typeof input>;

/** One card more: of a running instance at once, as its VMM says; of another from its next start. */
@injectable()
export class AttachPortWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, ports: InstancePorts) {
    super();
    this.definition = defineWorkflow<Input>('instance.attach-port', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: async (c, error) => {
        await steps.keepNics(c.op, c.input.instanceId);
        await steps.release(c.op, c.input.instanceId, c.taskId, error.message);
      },
    })
      .tx('begin', {
        title: 'Check the instance',
        run: async (c) => {
          const { hostId, projectId, hostname } = await steps.require(c.op, c.input.instanceId);
          if (hostId === null) throw new PermanentError('no_host', 'The instance has no host.');
          return { hostId, projectId, hostname };
        },
        noUndo: 'the state is settled when the task ends',
      })
      .tx(
        'allocate-port',
        addPort(
          ports,
          (c) => c.out.begin,
          ({ nic: { networkId, address, securityGroups } }) => ({
            networkId,
            ...(address !== undefined && { address }),
            ...(securityGroups && { securityGroups }),
          }),
        ),
      )
      .remote(
        'apply-network',
        attachPorts(ports, (c) => c.out.begin?.hostId),
      )
      .tx('check-port', {
        title: 'Check the port',
        run: async (c) => {
          await ports.applied(c.op, c.out['apply-network'], c.input.instanceId, c.input.portId);
          return {};
        },
        noUndo: 'the row is removed by the step that made it',
      })
      .remote('attach-nic', {
        title: 'Attach the card',
        verb: instanceDevices,
        node: (c) => c.out.begin.hostId,
        args: (c) => steps.devices(c.op, c.input.instanceId),
        retry: { attempts: 3 },
        undo: {
          verb: instanceDevices,
          node: (c) => c.out.begin?.hostId,
          args: (c) => steps.devices(c.op, c.input.instanceId, c.input.portId),
        },
      })
      .tx('settle', {
        title: 'Attached',
        run: async (c) => {
          await steps.keepNics(c.op, c.input.instanceId);
          await steps.settle(c.op, c.input.instanceId, c.taskId, c.out['attach-nic']);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
