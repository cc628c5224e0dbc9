import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { detachPorts } from '../../../network/contract/network.steps';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { DataVolumes, Volumes } from '../../../storage/contract/storage.ports';
import { deleteVolume } from '../../../storage/contract/volume.steps';
import { removeVmm } from '../../contract/instance.steps';
import { lastGeneration } from '../../contract/instance.verbs';
import { InstancePorts } from '../../../network/contract/network.ports';
import { InstanceTombstoneRepository } from '../instances/instance-tombstone.repository';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';

const input = z.strictObject({ instanceId: field.id });
type Input = z.output<typeof input>;

const goesForward = 'what is deleted does not come back';

/**
 * May be asked in any state and preempts whatever runs on the instance. Also ends well when the create that it
 * preempted left nothing.
 */
@injectable()
export class DeleteInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(
    steps: InstanceSteps,
    placement: Placement,
    ports: InstancePorts,
    volumes: Volumes,
    data: DataVolumes,
    tombstones: InstanceTombstoneRepository,
  ) {
    super();
    this.definition = defineWorkflow<Input>('instance.delete', {
      version: 2,
      continues: [1],
      input,
      lock: instanceLock,
      deadline: '30m',
      priority: 'urgent',
      preempts: true,
      goesForward,
      whenUndone: async (c, error) => {
        // It ended before it began, e.g. cancelled while it waited for the verb that it preempts: the instance is whole.
        if (!('mark-deleting' in c.out))
          return steps.release(c.op, c.input.instanceId, c.taskId, `its deletion did not begin: ${error.message}`);
        const instance = await steps.find(c.op, c.input.instanceId);
        if (instance)
          await steps.set(c.op, instance, {
            state: 'error',
            stateReason: `deleting it failed: ${error.message}`,
            taskId: null,
          });
      },
    })
      .tx('mark-deleting', {
        title: 'Mark as deleting',
        run: async (c) => {
          const instance = await steps.find(c.op, c.input.instanceId);
          if (!instance) return { hostId: null, generation: 0, volumeId: null, pool: null };
          const root = await volumes.rootOf(c.op, instance.id);
          const rescue = await volumes.rescueOf(c.op, instance.id);
          for (const volume of [root, rescue]) if (volume) await volumes.markDeleting(c.op, volume.id);
          await steps.set(c.op, instance, { state: 'deleting', taskId: c.taskId });
          if (instance.hostId !== null)
            await tombstones.record(c.op, {
              instanceId: instance.id,
              hostId: instance.hostId,
              generation: lastGeneration,
              volumeId: root?.id ?? null,
              pool: root?.pool ?? null,
              rescueVolumeId: rescue?.id,
            });
          return {
            hostId: instance.hostId,
            generation: lastGeneration,
            volumeId: root?.id ?? null,
            pool: root?.pool ?? null,
          };
        },
        noUndo: goesForward,
      })
      .remote(
        'remove-vmm',
        removeVmm((c) => hostOf(c.out), goesForward),
      )
      .remote(
        'remove-network',
        detachPorts(ports, (c) => hostOf(c.out)?.hostId, goesForward),
      )
      .remote(
        'remove-root-volume',
        deleteVolume((c) => volumeOf(c.out), goesForward),
        { together: true },
      )
      .tx('release', {
        title: 'Release its claims',
        run: async (c) => {
          await ports.release(c.op, c.input.instanceId);
          await placement.release(c.op, c.input.instanceId);
          // What it booted from in rescue goes as what a silent host has left does: the reconciler does not give up.
          const rescue = await volumes.rescueOf(c.op, c.input.instanceId);
          await volumes.remove(c.op, c.input.instanceId);
          // They are not its own: they stay, for the next one.
          await data.detachedAll(c.op, c.input.instanceId);
          const confirmed =
            rescue === null &&
            c.out['mark-deleting'].hostId !== null &&
            c.out['remove-vmm'] !== undefined &&
            (c.out['mark-deleting'].volumeId === null || c.out['remove-root-volume'] !== undefined);
          if (confirmed) await tombstones.done(c.op, c.input.instanceId);
          await steps.remove(c.op, c.input.instanceId, 'deleted');
          return {};
        },
        noUndo: goesForward,
      });
  }
}

interface Marked {
  'mark-deleting'?: { hostId: string | null; generation: number; volumeId: string | null; pool: string | null };
}

/** Undefined for an instance that has come to no host. */
const hostOf = (out: Marked): { hostId: string; generation: number } | undefined => {
  const { hostId = null, generation = 0 } = out['mark-deleting'] ?? {};
  return hostId === null ? undefined : { hostId, generation };
};

/** Undefined without a volume, or a host where it could lie. */
const volumeOf = (out: Marked): { hostId: string; volumeId: string; pool: string } | undefined => {
  const { hostId = null, volumeId = null, pool = null } = out['mark-deleting'] ?? {};
  return hostId === null || volumeId === null || pool === null ? undefined : { hostId, volumeId, pool };
};
