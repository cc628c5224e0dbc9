import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { Images } from '../../../image/contract/image.ports';
import { fetchImage } from '../../../image/contract/image.steps';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { Volumes } from '../../../storage/contract/storage.ports';
import { createVolume } from '../../../storage/contract/volume.steps';
import { lastGeneration } from '../../contract/instance.verbs';
import { bootedBy } from '../../contract/machine-options';
import { kernelOf } from '../instances/asked-of-host';
import { roomOf } from '../instances/claimed-room';
import { InstanceRepository } from '../instances/instance.repository';
import { InstanceTombstoneRepository } from '../instances/instance-tombstone.repository';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';

/** `volumeId`: of the new root volume. */
const input = z.strictObject({ instanceId: field.id, imageId: field.id, volumeId: field.id });
type Input = z.output<typeof input>;

/**
 * A stopped instance gets a new root disk of an image and stays what it is otherwise. The new one is made beside the old
 * one, which is let go of only once the new one is there: undone, nothing has happened to it.
 */
@injectable()
export class RebuildInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(
    steps: InstanceSteps,
    instances: InstanceRepository,
    placement: Placement,
    volumes: Volumes,
    images: Images,
    tombstones: InstanceTombstoneRepository,
  ) {
    super();
    this.definition = defineWorkflow<Input>('instance.rebuild', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('claim-room', {
        title: 'Claim room for a second disk',
        run: async (c) => {
          const { instanceId, volumeId, imageId } = c.input;
          const instance = await steps.require(c.op, instanceId);
          const root = await volumes.rootOf(c.op, instanceId);
          if (instance.hostId === null || !root)
            throw new PermanentError('no_host', 'The instance has no host, or no root volume there.');
          const size = roomOf(instance);
          await placement.resize(c.op, instanceId, { ...size, diskBytes: 2 * size.diskBytes });
          return { hostId: instance.hostId, volumeId, pool: root.pool, bytes: root.bytes, imageId, size };
        },
        undo: async (c, claimed) => {
          if (claimed) await placement.resize(c.op, c.input.instanceId, claimed.size);
        },
      })
      .remote(
        'fetch-image',
        fetchImage(images, (c) => c.out['claim-room']),
      )
      .remote(
        'create-root-volume',
        createVolume((c) => c.out['claim-room']),
        { together: true },
      )
      .tx('exchange', {
        title: 'Exchange the disks',
        run: async (c) => {
          const { instanceId, imageId, volumeId } = c.input;
          const { hostId, pool, size } = c.out['claim-room'];
          const image = await images.byId(c.op, imageId);
          if (!image) throw new PermanentError('image_gone', 'The image was deleted meanwhile.');
          const old = await volumes.replaceRoot(c.op, instanceId, { id: volumeId, imageId });
          // From here on nothing refers to it: removed as what deleted instances leave, as often as it takes.
          if (old)
            await tombstones.record(c.op, {
              instanceId: old.id,
              hostId,
              generation: lastGeneration,
              volumeId: old.id,
              pool,
            });
          await placement.resize(c.op, instanceId, size);
          const { name: imageName } = image;
          const instance = await steps.require(c.op, instanceId);
          await instances.update(c.op, instanceId, {
            imageId,
            imageName,
            firmware: bootedBy(image, instance),
            kernel: kernelOf(image),
          });
          await steps.release(c.op, instanceId, c.taskId, null);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
