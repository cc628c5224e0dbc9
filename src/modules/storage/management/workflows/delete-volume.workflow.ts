import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import type { Op } from '../../../../core/db/rows/op';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import type { Volume } from '../../contract/storage.api';
import { volumeLock } from '../../contract/volume-lock';
import { deleteVolume } from '../../contract/volume.steps';
import { VolumeEvents } from '../volume.events';
import { VolumeRepository } from '../volume.repository';
import { VolumeTombstoneRepository } from '../volume-tombstone.repository';

/** `before`: what it was when it was asked for. */
const input = z.strictObject({ volumeId: field.id, before: z.enum(['available', 'error']) });
type Input = z.output<typeof input>;

const goesForward = 'what is deleted does not come back';

/**
 * Of a volume that no instance has; preempts its making. Goes ahead on a silent host, and leaves a tombstone by which
 * the bytes go once the host is back.
 */
@injectable()
export class DeleteVolumeWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(
    volumes: VolumeRepository,
    events: VolumeEvents,
    placement: Placement,
    tombstones: VolumeTombstoneRepository,
  ) {
    super();
    const become = async (op: Op, volumeId: string, state: Volume['state']): Promise<void> => {
      const volume = await volumes.change(op, volumeId, { state });
      if (volume) await events.changed(op, 'updated', volume);
    };
    this.definition = defineWorkflow<Input>('volume.delete', {
      version: 1,
      input,
      lock: ({ volumeId }) => volumeLock(volumeId),
      deadline: '30m',
      priority: 'urgent',
      preempts: true,
      goesForward,
      // It ended before it began, e.g. cancelled while it waited for the create that it preempts: the volume is whole.
      whenUndone: (c) => become(c.op, c.input.volumeId, 'mark-deleting' in c.out ? 'error' : c.input.before),
    })
      .tx('mark-deleting', {
        title: 'Mark as deleting',
        run: async (c) => {
          const { volumeId } = c.input;
          const volume = await volumes.lock(c.op, volumeId);
          if (!volume) return { hostId: null, pool: null };
          const { hostId, pool } = volume;
          if (volume.state !== 'deleting') await become(c.op, volumeId, 'deleting');
          await tombstones.record(c.op, { volumeId, hostId, pool });
          return { hostId, pool };
        },
        noUndo: goesForward,
      })
      .remote(
        'delete-volume',
        deleteVolume((c) => placed(c.input, c.out['mark-deleting']), goesForward, 'Delete the volume'),
      )
      .tx('release', {
        title: 'Release its claim',
        run: async (c) => {
          const { volumeId } = c.input;
          const volume = await volumes.lock(c.op, volumeId);
          await placement.releaseDisk(c.op, volumeId);
          if (c.out['delete-volume'] !== undefined) await tombstones.done(c.op, volumeId);
          if (!volume) return {};
          await volumes.remove(c.op, volumeId);
          await events.changed(c.op, 'deleted', volume);
          return {};
        },
        noUndo: goesForward,
      });
  }
}

/** Undefined for one that its create took back. */
const placed = (
  { volumeId }: Input,
  marked: { hostId: string | null; pool: string | null } | undefined,
): { volumeId: string; hostId: string; pool: string } | undefined => {
  const { hostId = null, pool = null } = marked ?? {};
  return hostId === null || pool === null ? undefined : { volumeId, hostId, pool };
};
