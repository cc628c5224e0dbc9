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
 * One disk more: of a running instance at once, as its VMM says; of another from its next start. The request has reserved
 * the volume; undone, it is available again.
 */
@injectable()
export class AttachVolumeWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(steps: InstanceSteps, volumes: DataVolumes) {
    super();
    this.definition = defineWorkflow<Input>('instance.attach-volume', {
      version: 1,
      input,
      lock: (i) => [instanceLock(i), volumeLock(i.volumeId)],
      deadline: '10m',
      whenUndone: async (c, error) => {
        const { instanceId, volumeId } = c.input;
        await volumes.detached(c.op, instanceId, volumeId);
        await steps.release(c.op, instanceId, c.taskId, error.message);
      },
    })
      .tx('begin', beginOnHost(steps))
      .remote('attach-disk', {
        title: 'Attach the disk',
        verb: instanceDisks,
        node: (c) => c.out.begin.hostId,
        args: (c) => steps.devices(c.op, c.input.instanceId),
        retry: { attempts: 3 },
        undo: {
          verb: instanceDisks,
          node: (c) => c.out.begin?.hostId,
          args: (c) => steps.devices(c.op, c.input.instanceId, c.input.volumeId),
        },
      })
      .tx('settle', {
        title: 'Attached',
        run: async (c) => {
          const { instanceId, volumeId } = c.input;
          await volumes.attached(c.op, instanceId, volumeId);
          await steps.settle(c.op, instanceId, c.taskId, c.out['attach-disk']);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
