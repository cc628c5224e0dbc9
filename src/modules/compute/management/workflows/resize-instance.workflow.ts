import { injectable } from 'inversify';
import { z } from 'zod';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { type ClaimSize, Placement } from '../../../scheduler/contract/scheduler.ports';
import { Volumes } from '../../../storage/contract/storage.ports';
import { growVolume } from '../../../storage/contract/volume.steps';
import { hardwareAsked, dedicatedCpusOf } from '../../contract/hardware';
import { limitsShown } from '../../contract/limits';
import { instanceSeed } from '../../contract/instance.verbs';
import { seedOf } from '../instances/asked-of-host';
import { roomForBoth, roomOf } from '../instances/claimed-room';
import { InstanceRepository } from '../instances/instance.repository';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';

/** The new size, as the flavor had it when it was asked for; a disk that does not shrink. `project`: its name. */
const input = z.strictObject({
  instanceId: field.id,
  project: z.string(),
  flavorId: field.id,
  flavorName: z.string(),
  vcpus: z.number().int(),
  memoryBytes: field.bytes,
  diskBytes: field.bytes,
  /** Tasks from before there were any have none. */
  limits: limitsShown.optional(),
  hardware: hardwareAsked.optional(),
});
export type ResizeInput = z.output<typeof input>;

/** A stopped instance gets another flavor on its host; its next start uses it. */
@injectable()
export class ResizeInstanceWorkflow extends Workflow<ResizeInput> {
  readonly definition;

  constructor(steps: InstanceSteps, instances: InstanceRepository, placement: Placement, volumes: Volumes) {
    super();
    this.definition = defineWorkflow<ResizeInput>('instance.resize', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.release(c.op, c.input.instanceId, c.taskId, error.message),
    })
      .tx('claim-room', {
        title: 'Claim room on its host',
        run: async (c) => {
          const { instanceId, hardware } = c.input;
          const instance = await steps.require(c.op, instanceId);
          const root = await volumes.rootOf(c.op, instanceId);
          if (instance.hostId === null || !root)
            throw new PermanentError('no_host', 'The instance has no host, or no root volume there.');
          // Of each the larger one, until it is certain which of both sizes it keeps: undone, nobody has taken its room.
          const wanted = { ...c.input, hardware: hardware ?? instance.hardware };
          const cpus = await placement.otherCpus(c.op, instanceId, dedicatedCpusOf(wanted));
          const before = { ...roomOf(instance), cpus: await placement.cpusOf(c.op, instanceId) };
          const after = { ...roomOf(wanted), cpus };
          await placement.resize(c.op, instanceId, roomForBoth(before, after));
          return { hostId: instance.hostId, volumeId: root.id, pool: root.pool, before, after };
        },
        undo: async (c, claimed) => {
          if (claimed) await placement.resize(c.op, c.input.instanceId, claimed.before);
        },
      })
      .remote(
        'grow-root-volume',
        growVolume((c) => {
          const root = c.out['claim-room'];
          return root && c.input.diskBytes > root.before.diskBytes
            ? { ...root, bytes: volumes.sizeFor(c.input.diskBytes) }
            : undefined;
        }),
      )
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
      .tx('resized', {
        title: 'Resized',
        run: async (c) => {
          const { instanceId, flavorId, flavorName, vcpus, memoryBytes, diskBytes, limits, hardware } = c.input;
          const { hardware: had } = await steps.require(c.op, instanceId);
          // Of tasks from before instances had CPUs for themselves: they share.
          const { after } = c.out['claim-room'] as { after?: ClaimSize };
          await placement.resize(c.op, instanceId, after ?? roomOf({ ...c.input, hardware: hardware ?? had }));
          await volumes.grown(c.op, c.out['claim-room'].volumeId, diskBytes);
          const size = { vcpus, memoryBytes, diskBytes, ...(limits && { limits }), ...(hardware && { hardware }) };
          await instances.update(c.op, instanceId, { flavorId, flavorName, ...size });
          await steps.release(c.op, instanceId, c.taskId, null);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}
