import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { networkApply } from '../../../network/contract/network.verbs';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { Volumes } from '../../../storage/contract/storage.ports';
import { volumeAbsent } from '../../../storage/contract/volume.verbs';
import { instanceAbsent, lastGeneration } from '../../contract/instance.verbs';
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
    tombstones: InstanceTombstoneRepository,
  ) {
    super();
    this.definition = defineWorkflow<Input>('instance.delete', {
      version: 1,
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
          if (root) await volumes.markDeleting(c.op, root.id);
          await steps.set(c.op, instance, { state: 'deleting', taskId: c.taskId });
          if (instance.hostId !== null)
            await tombstones.record(c.op, {
              instanceId: instance.id,
              hostId: instance.hostId,
              generation: lastGeneration,
              volumeId: root?.id ?? null,
              pool: root?.pool ?? null,
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
      .remote('remove-vmm', {
        title: 'Remove the virtual machine',
        verb: instanceAbsent,
        when: (c) => c.out['mark-deleting'].hostId !== null,
        node: (c) => hostOf(c.out['mark-deleting']),
        args: (c) => ({ instanceId: c.input.instanceId, generation: c.out['mark-deleting'].generation }),
        tolerateLostNode: true,
        noUndo: goesForward,
      })
      .remote('remove-network', {
        title: 'Remove its ports from the host',
        verb: networkApply,
        when: (c) => c.out['mark-deleting'].hostId !== null,
        node: (c) => hostOf(c.out['mark-deleting']),
        args: (c) => steps.documentWithout(c.op, hostOf(c.out['mark-deleting']), c.input.instanceId),
        tolerateLostNode: true,
        noUndo: goesForward,
      })
      .remote('remove-root-volume', {
        title: 'Delete the root volume',
        verb: volumeAbsent,
        when: (c) => c.out['mark-deleting'].hostId !== null && c.out['mark-deleting'].volumeId !== null,
        node: (c) => hostOf(c.out['mark-deleting']),
        args: (c) => {
          const { volumeId, pool } = c.out['mark-deleting'];
          if (volumeId === null || pool === null) throw new Error('this step runs only for an instance with a volume');
          return { volumeId, pool };
        },
        tolerateLostNode: true,
        noUndo: goesForward,
      })
      .tx('release', {
        title: 'Release its claims',
        run: async (c) => {
          await ports.release(c.op, c.input.instanceId);
          await placement.release(c.op, c.input.instanceId);
          await volumes.remove(c.op, c.input.instanceId);
          const confirmed =
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

const hostOf = (out: { hostId: string | null }): string => {
  if (out.hostId === null) throw new Error('this step runs only for an instance with a host');
  return out.hostId;
};
