import { injectable } from 'inversify';
import { atOnce } from '../../../../core/db/at-once';
import type { Op } from '../../../../core/db/rows/op';
import { PermanentError } from '../../../../core/workflow/definition/workflow-error';
import { InstancePorts } from '../../../network/contract/network.ports';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import { DataVolumes, Volumes } from '../../../storage/contract/storage.ports';
import { hardwareOf } from '../../contract/hardware';
import { limitsOf } from '../../contract/limits';
import type { InstanceState } from '../../contract/instance-states';
import { withoutPolicies } from '../../contract/machine-options';
import type { InstanceSpec } from '../../contract/instance-spec';
import type { ObservedInstance } from '../../contract/instance.verbs';
import {
  bootKernelOf,
  configDriveOf,
  firmwareOf,
  machineOf,
  maxOf,
  restartPolicyOf,
  sharesOf,
} from '../instances/asked-of-host';
import { InstanceEvents } from '../instances/instance.events';
import type { InstanceEntity } from '../instances/instance.entity';
import { InstanceRepository } from '../instances/instance.repository';

/** The CPUs that it has claimed for itself, where it asks for some. */
export const claimedCpus = async (
  placement: Placement,
  op: Op,
  instance: Pick<InstanceEntity, 'id' | 'hardware'>,
): Promise<Pick<InstanceSpec, 'dedicatedCpus'>> => {
  if (instance.hardware.cpuPolicy !== 'dedicated') return {};
  const dedicatedCpus = await placement.cpusOf(op, instance.id);
  return dedicatedCpus.length === 0 ? {} : { dedicatedCpus };
};

/** What the instance workflows share: loading, the specification for the node, and state changes with their event. */
@injectable()
export class InstanceSteps {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly ports: InstancePorts,
    private readonly volumes: Volumes,
    private readonly data: DataVolumes,
    private readonly events: InstanceEvents,
    private readonly placement: Placement,
  ) {}

  /** Throws `PermanentError` `instance_gone` when the row is not there any more. */
  async require(op: Op, id: string): Promise<InstanceEntity> {
    const instance = await this.instances.byId(op, id);
    if (!instance) throw gone();
    return instance;
  }

  find(op: Op, id: string): Promise<InstanceEntity | null> {
    return this.instances.byId(op, id);
  }

  /** What the node needs to run it; volumes and ports must be recorded. */
  async spec(op: Op, instance: InstanceEntity): Promise<InstanceSpec> {
    const [root, data, found] = await atOnce(
      this.volumes.rootOf(op, instance.id),
      this.data.of(op, instance.id),
      this.ports.of(op, [instance.id]),
    );
    if (!root) throw new PermanentError('no_root_volume', 'The instance has no root volume.');
    const ports = found.get(instance.id) ?? [];
    const { rescue } = instance;
    const temporary = rescue && (await this.volumes.rescueOf(op, instance.id));
    if (rescue && !temporary) throw new PermanentError('no_root_volume', 'The instance has no disk for its rescue.');
    const disks = [...(temporary ? [temporary] : []), root];
    return {
      name: instance.name,
      vcpus: instance.vcpus,
      memoryBytes: instance.memoryBytes,
      disks: [
        ...disks.map(({ id, pool }) => ({ volumeId: id, pool, readonly: false })),
        ...data.map(({ volumeId, pool, readonly }) => ({ volumeId, pool, readonly, detachable: true as const })),
      ],
      ports: ports.map((p) => p.id),
      vmm: instance.wantedVmm,
      ...firmwareOf(rescue ?? instance),
      ...bootKernelOf(rescue ?? instance),
      ...configDriveOf(instance),
      // Whoever looks at a broken machine sees it end, and not begin again.
      ...(rescue ? { rescue: true as const } : restartPolicyOf(instance)),
      ...machineOf(rescue ? { machine: withoutPolicies(instance.machine) } : instance),
      ...maxOf(instance),
      ...limitsOf(instance),
      ...hardwareOf(instance),
      ...(await claimedCpus(this.placement, op, instance)),
      // Somebody repairs its disk there, by a system that nobody knows.
      ...(rescue ? {} : sharesOf(instance)),
    };
  }

  /** As its host shall have it now. */
  async wanted(op: Op, id: string): Promise<{ generation: number; spec: InstanceSpec }> {
    const instance = await this.require(op, id);
    return { generation: instance.generation, spec: await this.spec(op, instance) };
  }

  /** As `wanted`, with its id, and with that size where it shall have another one. */
  async resized(
    op: Op,
    id: string,
    size: Partial<Pick<InstanceSpec, 'vcpus' | 'memoryBytes'>> = {},
  ): Promise<{ instanceId: string; generation: number; spec: InstanceSpec }> {
    const { generation, spec } = await this.wanted(op, id);
    return { instanceId: id, generation, spec: { ...spec, ...size } };
  }

  /** As `wanted`, with its id; `without`: a port or a data volume that it shall not have. */
  async devices(
    op: Op,
    id: string,
    without?: string,
  ): Promise<{ instanceId: string; generation: number; spec: InstanceSpec }> {
    const { generation, spec } = await this.wanted(op, id);
    const ports = spec.ports.filter((port) => port !== without);
    const disks = spec.disks.filter(({ volumeId }) => volumeId !== without);
    return { instanceId: id, generation, spec: { ...spec, ports, disks } };
  }

  /** The networks that it uses are those of the ports that it has. */
  async keepNics(op: Op, id: string): Promise<void> {
    const ports = (await this.ports.of(op, [id])).get(id) ?? [];
    await this.instances.setNics(
      op,
      id,
      ports.map(({ networkId }) => ({ networkId })),
    );
  }

  /** Whether its vCPUs shall stand still, of the generation that its host has accepted. */
  async paused(
    op: Op,
    id: string,
    paused: boolean,
  ): Promise<{ instanceId: string; generation: number; paused: boolean }> {
    const { generation } = await this.require(op, id);
    return { instanceId: id, generation, paused };
  }

  /** Whether its memory shall lie on its host's disk, of the generation that its host has accepted. */
  async suspended(
    op: Op,
    id: string,
    suspended: boolean,
  ): Promise<{ instanceId: string; generation: number; suspended: boolean }> {
    const { generation } = await this.require(op, id);
    return { instanceId: id, generation, suspended };
  }

  async set(
    op: Op,
    instance: InstanceEntity,
    changes: {
      state: InstanceState;
      stateReason?: string;
      taskId?: string | null;
      power?: 'on' | 'off';
      generation?: number;
    },
  ): Promise<void> {
    const next = { stateReason: '', ...changes };
    // Who holds the instance's lock is not alone when a task that waits for it ends: the row may go meanwhile.
    if (!(await this.instances.update(op, instance.id, next))) return;
    await this.events.changed(op, 'updated', {
      ...instance,
      ...next,
      taskId: next.taskId === undefined ? instance.taskId : next.taskId,
    });
  }

  /**
   * Records what the node answered as the instance's state, and ends the task's hold on it. A delete that waits for
   * this task keeps its own hold.
   */
  async settle(op: Op, instanceId: string, taskId: string, observed: ObservedInstance): Promise<void> {
    const settled = await this.instances.settle(op, instanceId, taskId, observed);
    if (!settled) throw gone();
    if (settled.task_id === null) await this.events.observed(op, [settled]);
  }

  /** The wanted power back to off, with a new generation so that the node accepts it. Idempotent within a task. */
  async turnedOff(op: Op, instanceId: string): Promise<InstanceEntity> {
    const instance = await this.require(op, instanceId);
    if (instance.power === 'off') return instance;
    const changes = { power: 'off' as const, generation: instance.generation + 1 };
    await this.instances.update(op, instanceId, changes);
    return { ...instance, ...changes };
  }

  /**
   * Ends a failed verb's hold: the last observed state holds again and the reason says what failed. A delete that
   * preempted the verb keeps its own hold.
   * @param reason null: of a verb that changed no state
   * @param turnedOff the undo has turned it off, or nothing ever turned it on; a report from in between does not count
   */
  async release(op: Op, instanceId: string, taskId: string, reason: string | null, turnedOff = false): Promise<void> {
    const released = await this.instances.release(op, instanceId, taskId, reason, turnedOff);
    if (released) await this.events.observed(op, [released]);
  }

  /** Removes the row; the last thing that a create's undo or a delete does. */
  async remove(op: Op, instanceId: string, reason: string): Promise<void> {
    const instance = await this.instances.byId(op, instanceId);
    if (instance) await this.drop(op, instance, reason);
  }

  /** Removes the rows that the task still holds: nothing was made for them yet. */
  async removeUnbegun(op: Op, instanceIds: readonly string[], taskId: string, reason: string): Promise<void> {
    for (const instance of await this.instances.lockHeldBy(op, instanceIds, taskId))
      await this.drop(op, instance, reason);
  }

  private async drop(op: Op, instance: InstanceEntity, reason: string): Promise<void> {
    if (!(await this.instances.remove(op, instance.id))) return;
    await this.events.changed(op, 'deleted', { ...instance, state: 'deleting', stateReason: reason, taskId: null });
  }
}

const gone = (): PermanentError => new PermanentError('instance_gone', 'The instance is gone.');
