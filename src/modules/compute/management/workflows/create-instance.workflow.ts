import { injectable } from 'inversify';
import { z } from 'zod';
import { atOnce } from '../../../../core/db/at-once';
import * as field from '../../../../core/http/routes/fields';
import { defineWorkflow, Workflow } from '../../../../core/workflow/definition/definition';
import { Images } from '../../../image/contract/image.ports';
import { fetchImage } from '../../../image/contract/image.steps';
import { InstancePorts } from '../../../network/contract/network.ports';
import { allocatePorts, attachPorts } from '../../../network/contract/network.steps';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { Volumes } from '../../../storage/contract/storage.ports';
import { createVolume, recordRootVolume } from '../../../storage/contract/volume.steps';
import { startVmm, vmmAbsent } from '../../contract/instance.steps';
import { hardwareOf } from '../../contract/hardware';
import { limitsOf } from '../../contract/limits';
import { instanceSeed } from '../../contract/instance.verbs';
import {
  bootKernelOf,
  configDriveOf,
  firmwareOf,
  machineOf,
  maxOf,
  sharesOf,
  restartPolicyOf,
  seedOf,
} from '../instances/asked-of-host';
import { InstanceRepository } from '../instances/instance.repository';
import { placementRequest } from '../instances/placement-request';
import { instanceLock } from './instance-lock';
import { claimedCpus, InstanceSteps } from './instance-steps';

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
      version: 2,
      continues: [1],
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
          const dedicatedCpus = await claimedCpus(placement, c.op, i);
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
            kernel,
            configDrive,
            machine,
            maxVcpus,
            maxMemoryBytes,
            limits,
            hardware,
            shares,
            wantedVmm,
            restartPolicy,
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
            kernel,
            configDrive,
            machine,
            maxVcpus,
            maxMemoryBytes,
            limits,
            hardware,
            shares,
            wantedVmm,
            restartPolicy,
            generation,
            ...dedicatedCpus,
          };
        },
        undo: async (c) => {
          await placement.release(c.op, c.input.instanceId);
          await instances.update(c.op, c.input.instanceId, { hostId: null });
        },
      })
      .tx(
        'record-root-volume',
        recordRootVolume(volumes, (c) => c.out['claim-host']),
      )
      .tx(
        'allocate-ports',
        allocatePorts(ports, (c) => c.out['claim-host']),
      )
      .remote('fetch-image', fetchImage(images, rootVolumeOf))
      .remote('create-root-volume', createVolume(rootVolumeOf), { together: true })
      .remote(
        'apply-network',
        attachPorts(ports, (c) => c.out['claim-host']?.hostId),
        { together: true },
      )
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
        args: async (c) => seedOf(await steps.require(c.op, c.input.instanceId), c.input.project),
        undo: vmmAbsent((c) => c.out['claim-host']),
      })
      .remote(
        'start-vmm',
        startVmm(
          (c) => c.out['claim-host']?.hostId,
          (c) => {
            const claimed = c.out['claim-host'];
            const {
              name,
              vcpus,
              memoryBytes,
              firmware,
              kernel,
              configDrive,
              machine,
              wantedVmm,
              restartPolicy,
              generation,
            } = claimed;
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
              ...bootKernelOf({ kernel }),
              ...configDriveOf({ configDrive }),
              ...restartPolicyOf({ restartPolicy }),
              ...machineOf({ machine }),
              ...maxOf(claimed),
              ...limitsOf(claimed),
              ...hardwareOf(claimed),
              ...('dedicatedCpus' in claimed && { dedicatedCpus: claimed.dedicatedCpus }),
              ...sharesOf(claimed),
            };
            return { generation, spec };
          },
          vmmAbsent((c) => c.out['claim-host']),
        ),
        { together: true },
      )
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

interface Made {
  'claim-host'?: { hostId: string };
  'record-root-volume'?: { volumeId: string; pool: string; bytes: number; imageId: string };
}

/** The root volume and where it lies, once it was recorded. */
const rootVolumeOf = ({ out }: { out: Made }) => {
  const [host, root] = [out['claim-host'], out['record-root-volume']];
  return host && root && { ...root, hostId: host.hostId };
};
