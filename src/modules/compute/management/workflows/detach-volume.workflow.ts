import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { DataVolumes } from '../../../storage/contract/storage.ports';
import { volumeLock } from '../../../storage/contract/volume-lock';
import { instanceDisks } from '../../contract/instance.verbs';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { beginOnHost } from './verb-steps';

const input = z.strictObject({ instanceId: field.id, volumeId: field.id });
type Input = z.output<typeof input>;

/**
 * One disk less. The guest of a running instance lets it go first, or the task fails and it has it still; with the last
 * step the volume is available to others.
 */
@injectable()
export class DetachVolumeWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, volumes: DataVolumes) {
    super();
    this.definition = defineWorkflow<Input>('instance.detach-volume', {
      version: 1,
      input,
      lock: (i) => [instanceLock(i), volumeLock(i.volumeId)],
      deadline: '10m',
      whenUndone: async (c, error) => {
        const { instanceId, volumeId } = c.input;
        await volumes.attached(c.op, instanceId, volumeId);
        await steps.release(c.op, instanceId, c.taskId, error.message);
      },
    })
      .tx('begin', beginOnHost(steps))
      .remote('detach-disk', {
        title: 'Detach the disk',
        verb: instanceDisks,
        node: (c) => c.out.begin.hostId,
        args: (c) => steps.devices(c.op, c.input.instanceId, c.input.volumeId),
        retry: { attempts: 3 },
        undo: {
          verb: instanceDisks,
          node: (c) => c.out.begin?.hostId,
          args: (c) => steps.devices(c.op, c.input.instanceId),
        },
      })
      .tx('settle', {
        title: 'Detached',
        run: async (c) => {
          const { instanceId, volumeId } = c.input;
          await volumes.detached(c.op, instanceId, volumeId);
          await steps.settle(c.op, instanceId, c.taskId, c.out['detach-disk']);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
