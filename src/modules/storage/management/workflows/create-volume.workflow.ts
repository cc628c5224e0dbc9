import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { volumeLock } from '../../contract/volume-lock';
import { createVolume } from '../../contract/volume.steps';
import { VolumeEvents } from '../volume.events';
import { VolumeRepository } from '../volume.repository';

const input = z.strictObject({ volumeId: field.id, hostId: field.id, pool: z.string(), bytes: field.bytes });
type Input = z.output<typeof input>;

/** A row in state `creating`, whose room is claimed, becomes an empty disk on its host, or is gone again with its claim. */
@injectable()
export class CreateVolumeWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(volumes: VolumeRepository, events: VolumeEvents, placement: Placement) {
    super();
    this.definition = defineWorkflow<Input>('volume.create', {
      version: 1,
      input,
      lock: ({ volumeId }) => volumeLock(volumeId),
      deadline: '10m',
      whenUndone: async (c) => {
        const { volumeId } = c.input;
        const volume = await volumes.lock(c.op, volumeId);
        if (!volume) return;
        await placement.releaseDisk(c.op, volumeId);
        await volumes.remove(c.op, volumeId);
        await events.changed(c.op, 'deleted', volume);
      },
      whenStuck: async (c) => {
        const volume = await volumes.change(c.op, c.input.volumeId, { state: 'error' });
        if (volume) await events.changed(c.op, 'updated', volume);
      },
    })
      .remote(
        'create-volume',
        createVolume((c) => ({ ...c.input, imageId: null }), 'Create the volume'),
      )
      .tx('available', {
        title: 'Available',
        run: async (c) => {
          const { volumeId } = c.input;
          // A delete that waits for this task has called it `deleting` already.
          if (await volumes.move(c.op, volumeId, ['creating', 'error'], 'available')) {
            const volume = await volumes.byId(c.op, volumeId);
            if (volume) await events.changed(c.op, 'updated', volume);
          } else if (!(await volumes.byId(c.op, volumeId)))
            throw new PermanentError('volume_gone', 'The volume is gone.');
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
