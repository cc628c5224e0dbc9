import { injectable } from 'inversify';
import { z } from 'zod';
import { atOnce } from '../../../../core/db/at-once';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { Images } from '../../../image/contract/image.ports';
import { imageEnsure } from '../../../image/contract/image.verbs';
import { InstancePorts } from '../../../network/contract/network.ports';
import { networkApply } from '../../../network/contract/network.verbs';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { Volumes } from '../../../storage/contract/storage.ports';
import { volumeAbsent, volumeEnsure } from '../../../storage/contract/volume.verbs';
import { instanceAbsent, instanceEnsure, instanceSeed } from '../../contract/instance.verbs';
import { configDriveOf, firmwareOf, vendorDataOf } from '../instances/asked-of-host';
import { InstanceRepository } from '../instances/instance.repository';
import { placementRequest } from '../instances/placement-request';
import { instanceLock } from './instance-lock';
import { InstanceSteps } from './instance-steps';

/** `partOf`: the task that holds the instance until this one begins, when several are made together. */
const input = z.strictObject({ instanceId: field.id, project: z.string(), partOf: field.id.optional() });
type Input = z.output<typeof input>;

/** A row in state `building` becomes a running guest, or is gone again with everything that was made for it. */
@injectable()
export class CreateInstanceWorkflow extends Workflow<Input> {
  readonly definition;

  constructor(
    steps: InstanceSteps,
    instances: InstanceRepository,
    placement: Placement,
    ports: InstancePorts,
    volumes: Volumes,
    images: Images,
  ) {
    super();
    this.definition = defineWorkflow<Input>('instance.create', {
      version: 1,
      input,
      lock: instanceLock,
      deadline: '10m',
      whenUndone: (c, error) => steps.remove(c.op, c.input.instanceId, error.message),
      whenStuck: async (c, error) => {
        const instance = await steps.find(c.op, c.input.instanceId);
        if (instance) await steps.set(c.op, instance, { state: 'error', stateReason: error.message });
      },
    })
      .tx('claim-host', {
        title: 'Claim a host',
        run: async (c) => {
          const i = await steps.require(c.op, c.input.instanceId);
          const { hostId } = await placement.claim(c.op, placementRequest(i, volumes.rootPool()));
          await instances.update(c.op, i.id, { hostId });
          if (c.input.partOf !== undefined) await instances.handOver(c.op, i.id, c.input.partOf, c.taskId);
          const {
            projectId,
            name,
            hostname,
            imageId,
            diskBytes,
            nics,
            vcpus,
            memoryBytes,
            firmware,
            configDrive,
            wantedVmm,
            generation,
          } = i;
          return {
            hostId,
            projectId,
            name,
            hostname,
            imageId,
            diskBytes,
            nics,
            vcpus,
            memoryBytes,
            firmware,
            configDrive,
            wantedVmm,
            generation,
          };
        },
        undo: async (c) => {
          await placement.release(c.op, c.input.instanceId);
          await instances.update(c.op, c.input.instanceId, { hostId: null });
        },
      })
      .tx('record-root-volume', {
        title: 'Reserve the root volume',
        run: async (c) => {
          const { hostId, projectId, name, imageId, diskBytes } = c.out['claim-host'];
          const root = await volumes.createRoot(c.op, {
            instanceId: c.input.instanceId,
            projectId,
            name,
            hostId,
            imageId,
            bytes: diskBytes,
          });
          return { volumeId: root.id, pool: root.pool, bytes: root.bytes, imageId };
        },
        undo: (c) => volumes.remove(c.op, c.input.instanceId),
      })
      // Last before the commit: from here on other creates on the same network wait.
      .tx('allocate-ports', {
        title: 'Allocate addresses',
        run: async (c) => {
          const { hostId, projectId, hostname, nics } = c.out['claim-host'];
          const made = await ports.allocate(c.op, {
            instanceId: c.input.instanceId,
            projectId,
            hostname,
            hostId,
            nics,
          });
          return { portIds: made.map((port) => port.id) };
        },
        undo: (c) => ports.release(c.op, c.input.instanceId),
      })
      .remote('fetch-image', {
        title: 'Fetch the image to the host',
        verb: imageEnsure,
        node: (c) => c.out['claim-host'].hostId,
        args: async (c) => {
          const image = await images.byId(c.op, c.out['record-root-volume'].imageId);
          if (!image) throw new PermanentError('image_gone', 'The image was deleted meanwhile.');
          return { imageId: image.id, sha256: image.sha256, virtualBytes: image.virtualBytes };
        },
        noUndo: 'the cache of the host belongs to all its instances and evicts by itself',
      })
      .remote('create-root-volume', {
        title: 'Create the root volume',
        verb: volumeEnsure,
        node: (c) => c.out['claim-host'].hostId,
        args: (c) => {
          const { volumeId, pool, bytes, imageId } = c.out['record-root-volume'];
          return { volumeId, pool, bytes, imageId };
        },
        undo: {
          verb: volumeAbsent,
          node: (c) => c.out['claim-host']?.hostId,
          args: (c) => {
            const root = c.out['record-root-volume'];
            if (!root) throw new Error('the volume was recorded before it was made');
            return { volumeId: root.volumeId, pool: root.pool };
          },
        },
      })
      .remote('apply-network', {
        title: 'Apply the network on the host',
        verb: networkApply,
        node: (c) => c.out['claim-host'].hostId,
        args: (c) => ports.document(c.op, c.out['claim-host'].hostId),
        undo: {
          verb: networkApply,
          node: (c) => c.out['claim-host']?.hostId,
          args: (c) => steps.documentWithout(c.op, hostOf(c.out).hostId, c.input.instanceId),
        },
      })
      .tx('check-ports', {
        title: 'Check the ports',
        run: async (c) => {
          await atOnce(
            ports.applied(c.op, c.out['apply-network'], c.input.instanceId),
            volumes.markInUse(c.op, c.out['record-root-volume'].volumeId),
          );
          return {};
        },
        noUndo: 'the rows are removed by the steps that made them',
      })
      .remote('seed', {
        title: 'Give the host the metadata',
        verb: instanceSeed,
        node: (c) => c.out['claim-host'].hostId,
        args: async (c) => {
          const i = await steps.require(c.op, c.input.instanceId);
          return {
            instanceId: i.id,
            name: i.name,
            hostname: i.hostname,
            sshKeys: i.sshKeys,
            userData: i.userData,
            ...vendorDataOf(i),
            flavor: i.flavorName,
            project: c.input.project,
          };
        },
        undo: {
          verb: instanceAbsent,
          node: (c) => c.out['claim-host']?.hostId,
          args: (c) => ({ instanceId: c.input.instanceId, generation: hostOf(c.out).generation }),
        },
      })
      .remote('start-vmm', {
        title: 'Start the virtual machine',
        verb: instanceEnsure,
        node: (c) => c.out['claim-host'].hostId,
        args: (c) => {
          const { name, vcpus, memoryBytes, firmware, configDrive, wantedVmm, generation } = c.out['claim-host'];
          const { volumeId, pool } = c.out['record-root-volume'];
          const spec = {
            name,
            vcpus,
            memoryBytes,
            disks: [{ volumeId, pool, readonly: false }],
            ports: c.out['allocate-ports'].portIds,
            // Tasks from before one could be asked for have none.
            vmm: (wantedVmm as string | null | undefined) ?? null,
            ...firmwareOf({ firmware }),
            ...configDriveOf({ configDrive }),
          };
          return { instanceId: c.input.instanceId, generation, spec, power: 'on' as const, graceSeconds: 0 };
        },
        retry: { attempts: 3 },
        undo: {
          verb: instanceAbsent,
          node: (c) => c.out['claim-host']?.hostId,
          args: (c) => ({ instanceId: c.input.instanceId, generation: hostOf(c.out).generation }),
        },
      })
      .tx('mark-running', {
        title: 'Running',
        run: async (c) => {
          await steps.settle(c.op, c.input.instanceId, c.taskId, c.out['start-vmm']);
          return {};
        },
        noUndo: 'it is the last step',
      });
  }
}

interface Claimed {
  hostId: string;
  generation: number;
}

const hostOf = (out: { 'claim-host'?: Claimed }): Claimed => {
  const claimed = out['claim-host'];
  if (!claimed) throw new Error('the host was claimed before anything was made on it');
  return claimed;
};
