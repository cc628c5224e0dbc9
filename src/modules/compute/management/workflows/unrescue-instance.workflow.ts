import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { Volumes } from '../../../storage/contract/storage.ports';
import { stopVmm } from '../../contract/instance.steps';
import { lastGeneration } from '../../contract/instance.verbs';
import { roomOf } from '../instances/claimed-room';
import { InstanceRepository } from '../instances/instance.repository';
import { InstanceTombstoneRepository } from '../instances/instance-tombstone.repository';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost } from './verb-steps';

const input = z.strictObject({ instanceId: field.id, graceSeconds: z.number().int().min(0) });
type Input = z.output<typeof input>;

/**
 * The machine of an instance in rescue is turned off, and has its own disk alone from its next start. The temporary one
 * is let go of only once its host has said that the machine is off.
 */
@injectable()
export class UnrescueInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(
    steps: InstanceSteps,
    instances: InstanceRepository,
    placement: Placement,
    volumes: Volumes,
    tombstones: InstanceTombstoneRepository,
  ) {
    super();
    this.definition = defineWorkflow<Input>('instance.unrescue', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '20m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('begin', beginOnHost(steps))
      .remote(
        'stop-vmm',
        stopVmm(
          (c) => c.out.begin?.hostId,
          (c) => steps.wanted(c.op, c.input.instanceId),
          ({ graceSeconds }) => graceSeconds,
          'a guest that was asked to stop is not asked to come back',
        ),
      )
      .tx('leave', {
        title: 'Leave the rescue',
        run: async (c) => {
          const { instanceId } = c.input;
          const { state } = c.out['stop-vmm'];
          if (state !== 'stopped') throw new PermanentError('instance_failed', `Its host says that it is ${state}.`);
          const instance = await steps.require(c.op, instanceId);
          const temporary = await volumes.removeRescue(c.op, instanceId);
          // From here on nothing refers to it: removed as what deleted instances leave, as often as it takes.
          if (temporary)
            await tombstones.record(c.op, {
              instanceId: temporary.id,
              hostId: c.out.begin.hostId,
              generation: lastGeneration,
              volumeId: temporary.id,
              pool: temporary.pool,
            });
          await placement.resize(c.op, instanceId, roomOf(instance));
          await instances.update(c.op, instanceId, { rescue: null });
          await steps.settle(c.op, instanceId, c.taskId, c.out['stop-vmm']);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
