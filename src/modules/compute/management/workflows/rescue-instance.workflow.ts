import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { Images } from '../../../image/contract/image.ports';
import { fetchImage } from '../../../image/contract/image.steps';
import { InstancePorts } from '../../../network/contract/network.ports';
import { applyNetwork } from '../../../network/contract/network.steps';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { Volumes } from '../../../storage/contract/storage.ports';
import { createVolume } from '../../../storage/contract/volume.steps';
import { startVmm, stopVmm } from '../../contract/instance.steps';
import { instanceEnsure } from '../../contract/instance.verbs';
import { bootedBy } from '../../contract/machine-options';
import { kernelOf } from '../instances/asked-of-host';
import { roomOf } from '../instances/claimed-room';
import { InstanceRepository } from '../instances/instance.repository';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { settleObserved } from './verb-steps';

/** `volumeId`: of the temporary volume, which has so many `bytes`. */
const input = z.strictObject({ instanceId: field.id, imageId: field.id, volumeId: field.id, bytes: field.bytes });
type Input = z.output<typeof input>;

/**
 * An instance that is off boots from a temporary disk of an image, with its own as a second one. Undone, it is off, and
 * the temporary disk is gone.
 */
@injectable()
export class RescueInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(
    steps: InstanceSteps,
    instances: InstanceRepository,
    placement: Placement,
    volumes: Volumes,
    images: Images,
    ports: InstancePorts,
  ) {
    super();
    this.definition = defineWorkflow<Input>('instance.rescue', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message, 'turn-off' in c.out),
    })
      .tx('claim-room', {
        title: 'Claim room for a temporary disk',
        run: async (c) => {
          const { instanceId, volumeId: id, imageId, bytes } = c.input;
          const instance = await steps.require(c.op, instanceId);
          const { hostId } = instance;
          const volume = await volumes.recordRescue(c.op, { id, instanceId, imageId, bytes });
          if (hostId === null || !volume)
            throw new PermanentError('no_host', 'The instance has no host, or no root volume there.');
          const size = roomOf(instance);
          await placement.resize(c.op, instanceId, { ...size, diskBytes: size.diskBytes + bytes });
          return { hostId, volumeId: id, pool: volume.pool, bytes: volume.bytes, imageId, size };
        },
        undo: async (c, claimed) => {
          if (!claimed) return;
          await volumes.removeRescue(c.op, c.input.instanceId);
          await placement.resize(c.op, c.input.instanceId, claimed.size);
        },
      })
      .remote(
        'turn-off',
        stopVmm(
          (c) => c.out['claim-room']?.hostId,
          (c) => steps.wanted(c.op, c.input.instanceId),
          () => 0,
          'it was off already, or had failed',
        ),
      )
      .remote(
        'fetch-image',
        fetchImage(images, (c) => c.out['claim-room']),
        { together: true },
      )
      .remote(
        'create-volume',
        createVolume((c) => c.out['claim-room'], 'Create the temporary disk'),
        { together: true },
      )
      .remote(
        'apply-network',
        applyNetwork(ports, (c) => c.out['claim-room']?.hostId, 'the document is the same whether it runs or not'),
        { together: true },
      )
      .tx('enter', {
        title: 'Enter the rescue',
        run: async (c) => {
          const { instanceId, imageId, volumeId } = c.input;
          const image = await images.byId(c.op, imageId);
          if (!image) throw new PermanentError('image_gone', 'The image was deleted meanwhile.');
          const instance = await steps.require(c.op, instanceId);
          const firmware = bootedBy(image, instance);
          const rescue = { imageId, imageName: image.name, firmware, kernel: kernelOf(image) };
          await instances.update(c.op, instanceId, { rescue, power: 'on', generation: instance.generation + 1 });
          await volumes.markInUse(c.op, volumeId);
          return {};
        },
        undo: async (c) => {
          const { id } = await steps.turnedOff(c.op, c.input.instanceId);
          await instances.update(c.op, id, { rescue: null });
        },
      })
      .remote(
        'start-vmm',
        startVmm(
          (c) => c.out['claim-room']?.hostId,
          (c) => steps.wanted(c.op, c.input.instanceId),
          {
            verb: instanceEnsure,
            node: (c) => c.out['claim-room']?.hostId,
            args: async (c) => {
              const off = await steps.turnedOff(c.op, c.input.instanceId);
              const spec = await steps.spec(c.op, { ...off, rescue: null });
              const { id: instanceId, generation } = off;
              return { instanceId, generation, spec, power: 'off' as const, graceSeconds: 0 };
            },
          },
        ),
      )
      .tx(
        'settle',
        settleObserved(steps, 'In rescue', (c) => c.out['start-vmm']),
      );
  }
}
