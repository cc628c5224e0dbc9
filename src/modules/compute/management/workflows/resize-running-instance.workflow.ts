import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { instanceResize, instanceSeed } from '../../contract/instance.verbs';
import { seedOf } from '../instances/asked-of-host';
import { roomForBoth, roomOf } from '../instances/claimed-room';
import { InstanceRepository } from '../instances/instance.repository';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';

/** The new size, as the flavor had it when it was asked for. `project`: its name. */
const input = z.strictObject({
  instanceId: field.id,
  project: z.string(),
  flavorId: field.id,
  flavorName: z.string(),
  vcpus: z.number().int(),
  memoryBytes: field.bytes,
});
type Input = z.output<typeof input>;

/**
 * An instance that runs gets another flavor's vCPUs and memory. The host does both or neither. Should the task be ended
 * afterwards all the same, what the machine cannot give back while it runs it has until its next start.
 */
@injectable()
export class ResizeRunningInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, instances: InstanceRepository, placement: Placement) {
    super();
    this.definition = defineWorkflow<Input>('instance.resize-running', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('claim-room', {
        title: 'Claim room on its host',
        run: async (c) => {
          const { instanceId, vcpus, memoryBytes } = c.input;
          const now = await steps.require(c.op, instanceId);
          const { hostId } = now;
          if (hostId === null) throw new PermanentError('no_host', 'The instance has no host.');
          const before = roomOf(now);
          // Of each the larger one, until it is certain which of both sizes it keeps.
          const after = roomOf({ ...now, vcpus, memoryBytes });
          await placement.resize(c.op, instanceId, roomForBoth(before, after));
          return { hostId, before };
        },
        undo: async (c, claimed) => {
          if (claimed) await placement.resize(c.op, c.input.instanceId, claimed.before);
        },
      })
      .remote('seed', {
        title: 'Give the host the metadata',
        verb: instanceSeed,
        node: (c) => c.out['claim-room'].hostId,
        args: async (c) => {
          const instance = await steps.require(c.op, c.input.instanceId);
          return seedOf({ ...instance, flavorName: c.input.flavorName }, c.input.project);
        },
        undo: {
          verb: instanceSeed,
          node: (c) => c.out['claim-room']?.hostId,
          args: async (c) => seedOf(await steps.require(c.op, c.input.instanceId), c.input.project),
        },
      })
      .remote('resize-vmm', {
        title: 'Resize the virtual machine',
        verb: instanceResize,
        node: (c) => c.out['claim-room'].hostId,
        args: async (c) => {
          const { instanceId, vcpus, memoryBytes } = c.input;
          return { ...(await steps.resized(c.op, instanceId, { vcpus, memoryBytes })), back: false };
        },
        retry: { attempts: 3 },
        undo: {
          verb: instanceResize,
          node: (c) => c.out['claim-room']?.hostId,
          args: async (c) => ({ ...(await steps.resized(c.op, c.input.instanceId)), back: true }),
        },
      })
      .tx('resized', {
        title: 'Resized',
        run: async (c) => {
          const { instanceId, flavorId, flavorName, vcpus, memoryBytes } = c.input;
          const now = await steps.require(c.op, instanceId);
          await placement.resize(c.op, instanceId, roomOf({ ...now, vcpus, memoryBytes }));
          await instances.update(c.op, instanceId, { flavorId, flavorName, vcpus, memoryBytes });
          await steps.settle(c.op, instanceId, c.taskId, c.out['resize-vmm']);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
