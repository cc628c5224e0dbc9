import { isDeepStrictEqual } from 'node:util';
import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, unprocessable } from '../../../../core/errors/problem';
import { neededRevision } from '../../../../core/m2m/verbs/revisions';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Hosts, type SchedulableHost } from '../../../host/contract/host.ports';
import { Projects } from '../../../identity/contract/identity.ports';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import type { InstanceSpec } from '../../contract/instance-spec';
import { instanceEnsure } from '../../contract/instance.verbs';
import { dedicatedCpusOf, fixedMaximum, hardwareOf, hugePagesFixed } from '../../contract/hardware';
import { limitsOf } from '../../contract/limits';
import type { FlavorEntity } from '../flavors/flavor.entity';
import { FlavorService } from '../flavors/flavor.service';
import { type ResizeInput, ResizeInstanceWorkflow } from '../workflows/resize-instance.workflow';
import { ResizeRunningInstanceWorkflow } from '../workflows/resize-running-instance.workflow';
import { needsStop, runningResizeRefusal } from '../../contract/instance-size';
import { vmmNeeds } from '../vmms/vmm-needs';
import { roomOf } from './claimed-room';
import { refuseHugePages } from '../memory/huge-pages';
import type { InstanceEntity } from './instance.entity';
import { InstanceService } from './instance.service';
import type { Accepted } from './instance-task';
import { InstanceVerbs, type Of } from './instance-verbs.service';

/** Another flavor for an instance that is there. */
@injectable()
export class InstanceResizing {
  constructor(
    private readonly found: InstanceService,
    private readonly flavors: FlavorService,
    private readonly verbs: InstanceVerbs,
    private readonly placement: Placement,
    private readonly projects: Projects,
    private readonly hosts: Hosts,
    private readonly resizing: ResizeInstanceWorkflow,
    private readonly resizingRunning: ResizeRunningInstanceWorkflow,
  ) {}

  /**
   * On its own host: of a stopped instance from its next start on, of one that runs at once. 422 `disk_would_shrink`,
   * `other_vmm_of_flavor`, `huge_pages_fixed`, `host_lacks`; 409 `resize_needs_stop` with the reason, `no_room` and what the state machine says.
   */
  async resize(op: Op, of: Of, ref: string): Promise<Accepted> {
    const { access } = of.caller;
    const instance = await this.found.lockByRef(op, access, of.projectId, of.ref);
    const flavor = await this.flavors.require(op, ref);
    refuseUnfit(instance, flavor);
    await this.refuseUnable(op, instance, flavor);
    const size = {
      vcpus: flavor.vcpus,
      memoryBytes: flavor.memoryBytes,
      // A flavor that leaves it to the image leaves it as it is.
      diskBytes: Math.max(flavor.diskBytes, instance.diskBytes),
    };
    const project = (await this.projects.names(op, [instance.projectId])).get(instance.projectId) ?? '';
    const { vcpus, memoryBytes, diskBytes } = size;
    const input = { project, flavorId: flavor.id, flavorName: flavor.name, vcpus, memoryBytes };
    await this.verbs.refuse(op, instance, 'resize');
    const runs = instance.state === 'running';
    const refusal = runs ? (runningResizeRefusal(instance, size) ?? machineRefusal(instance, flavor)) : undefined;
    if (refusal) throw conflict(refusal.code, refusal.detail, { state: instance.state });
    refuseFixed(instance, flavor);
    const room = roomOf({ ...size, hardware: flavor.hardware });
    await this.placement.checkResize(
      op,
      instance.id,
      runs ? room : { ...room, cpus: dedicatedCpusOf(flavor) },
      seesHosts(access.principal),
    );
    const stopped: Omit<ResizeInput, 'instanceId'> = {
      ...input,
      diskBytes,
      limits: flavor.limits,
      hardware: flavor.hardware,
    };
    if (!runs) return this.verbs.ask(op, of, 'resize', instance, this.resizing.definition, stopped);
    const next = { generation: instance.generation + 1 };
    return this.verbs.ask(op, of, 'resize', instance, this.resizingRunning.definition, input, next);
  }

  /** It stays on its host, whose VMM and agent must be able to do what the flavor says. */
  private async refuseUnable(op: Op, instance: InstanceEntity, flavor: FlavorEntity): Promise<void> {
    const own = dedicatedCpusOf(flavor);
    const wanted = {
      ...limitsOf(flavor),
      ...hardwareOf(flavor),
      ...(own && { dedicatedCpus: [{ node: 0, cpus: own.count, memoryBytes: 0 }] }),
    };
    const host = instance.hostId === null ? undefined : await this.hosts.byId(op, instance.hostId);
    if (!host || Object.keys(wanted).length === 0) return;
    const refused = lacking(host, instance, wanted);
    if (refused !== undefined)
      throw unprocessable('body.flavor', 'host_lacks', `The flavor cannot be had on its host: ${refused}.`);
  }
}

/** A machine that runs keeps the limits and the hardware that it was started with. */
const machineRefusal = (
  now: InstanceEntity,
  { limits, hardware, vcpus }: FlavorEntity,
): ReturnType<typeof runningResizeRefusal> => {
  if (!isDeepStrictEqual(now.limits, limits)) return needsStop('its disks and cards get other limits only at a start');
  if (dedicatedCpusOf(now) && vcpus !== now.vcpus)
    return needsStop('it gets and gives CPUs of its own only at a start');
  return isDeepStrictEqual(now.hardware, hardware) ? undefined : needsStop('it gets other hardware only at a start');
};

/** Why the host cannot give the instance what the flavor says, in words. */
const lacking = (
  { parts, verbs }: Pick<SchedulableHost, 'parts' | 'verbs'>,
  { wantedVmm, vmm, firmware, machine }: InstanceEntity,
  wanted: Pick<InstanceSpec, 'limits' | 'hardware' | 'dedicatedCpus'>,
): string | undefined => {
  const needed = neededRevision(instanceEnsure, { spec: wanted });
  if ((verbs?.[instanceEnsure.name] ?? 1) < needed) return 'its agent is of a release from before that';
  for (const need of vmmNeeds({ vmm: wantedVmm ?? vmm, firmware, machine, ...wanted })) {
    const refused = need.code === 'machine' ? need.refuses(parts) : undefined;
    if (refused !== undefined) return refused;
  }
  return undefined;
};

/** 422 `dedicated_cpus_are_fixed`: it may grow while it runs, and what is its own does not. */
const refuseFixed = (maximum: InstanceEntity, { hardware }: FlavorEntity): void => {
  const refused = fixedMaximum(maximum, hardware);
  if (refused) throw unprocessable('body.flavor', 'dedicated_cpus_are_fixed', refused.detail);
};

const refuseUnfit = (instance: InstanceEntity, flavor: FlavorEntity): void => {
  refuseHugePages('body.flavor', instance.machine, flavor.hardware);
  if (flavor.diskBytes > 0 && flavor.diskBytes < instance.diskBytes)
    throw unprocessable(
      'body.flavor',
      'disk_would_shrink',
      `Its disk has ${instance.diskBytes} bytes and the flavor's ${flavor.diskBytes}: a disk never shrinks.`,
    );
  if (instance.maxMemoryBytes !== null && flavor.hardware.pageSize !== undefined)
    throw unprocessable('body.flavor', 'huge_pages_fixed', hugePagesFixed);
  // Its machine keeps its kind: what its guest has found there it finds again.
  const vmm = instance.wantedVmm ?? instance.vmm;
  if (flavor.vmm !== null && vmm !== null && flavor.vmm !== vmm)
    throw unprocessable(
      'body.flavor',
      'other_vmm_of_flavor',
      `The flavor asks for ${flavor.vmm}, and the instance runs on ${vmm}: choose another flavor.`,
    );
};
