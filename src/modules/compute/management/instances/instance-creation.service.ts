import { injectable } from 'inversify';
import type { z } from 'zod';
import type { ProjectRef } from '../../../../core/auth/authenticator';
import { allowedGlobally } from '../../../../core/auth/permissions/permissions';
import type { Op } from '../../../../core/db/rows/op';
import { forbidden, nameTaken, unprocessable } from '../../../../core/errors/problem';
import { atOnce } from '../../../../core/db/at-once';
import { displayName } from '../../../../core/http/routes/fields';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { seesHosts } from '../../../host/contract/sees-hosts';
import { Hosts } from '../../../host/contract/host.ports';
import { Projects } from '../../../identity/contract/identity.ports';
import { Images } from '../../../image/contract/image.ports';
import { InstancePorts } from '../../../network/contract/network.ports';
import { PlacementRefusal } from '../../../scheduler/contract/placement-refusal';
import { Volumes } from '../../../storage/contract/storage.ports';
import { Placement } from '../../../scheduler/contract/scheduler.ports';
import {
  maxUserDataBytes,
  type createInstance,
  type createInstances,
  type Instance,
  type instanceCheck,
} from '../../contract/compute.api';
import { fixedMaximum } from '../../contract/hardware';
import { askedOfMachine } from '../../contract/machine-options';
import type { FlavorEntity } from '../flavors/flavor.entity';
import { FlavorService } from '../flavors/flavor.service';
import { kernelIsUnsigned, refuseLargeKernel } from './bootable-image';
import { hostIdOf } from './host-ref';
import { hugePagesFixed } from '../../contract/hardware';
import { hostnamesFrom } from '../guest-data/hostname';
import type { InstanceEntity } from './instance.entity';
import { InstanceEvents } from './instance.events';
import { instanceOf, type InstancePlan } from './instance-plan';
import { InstancePresenter } from './instance.presenter';
import { InstanceRepository } from './instance.repository';
import { startOn, type Accepted, type Caller } from './instance-task';
import { placementRequest } from './placement-request';
import { SshKeyService } from '../ssh-keys/ssh-key.service';
import { agreedVmm, type AskedVmms } from '../vmms/agreed-vmm';
import { Shares } from '../shares/shares.service';
import { VmmKinds } from '../vmms/vmm-kinds';
import { refuseHugePages } from '../memory/huge-pages';
import { CreateInstanceWorkflow } from '../workflows/create-instance.workflow';
import { CreateInstanceBatchWorkflow } from '../workflows/create-instance-batch.workflow';

/** 422 `below_flavor`: what it begins with is within what it may get; `huge_pages_fixed`. */
const refuseLowMaximum = (
  { maxVcpus, maxMemoryBytes }: Pick<z.output<typeof createInstance>, 'maxVcpus' | 'maxMemoryBytes'>,
  { vcpus, memoryBytes, hardware }: FlavorEntity,
): void => {
  if (maxVcpus !== null && maxVcpus < vcpus)
    throw unprocessable('body.maxVcpus', 'below_flavor', `The flavor has ${vcpus} vCPUs already.`);
  if (maxMemoryBytes !== null && maxMemoryBytes < memoryBytes)
    throw unprocessable('body.maxMemoryBytes', 'below_flavor', `The flavor has ${memoryBytes} bytes already.`);
  if (maxMemoryBytes !== null && hardware.pageSize !== undefined)
    throw unprocessable('body.maxMemoryBytes', 'huge_pages_fixed', hugePagesFixed);
};

const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}-${i + 1}`);

/** How instances come: checked and recorded here, made by their workflow. */
@injectable()
export class InstanceCreation {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly presenter: InstancePresenter,
    private readonly events: InstanceEvents,
    private readonly flavors: FlavorService,
    private readonly sshKeys: SshKeyService,
    private readonly images: Images,
    private readonly ports: InstancePorts,
    private readonly placement: Placement,
    private readonly volumes: Volumes,
    private readonly hosts: Hosts,
    private readonly projects: Projects,
    private readonly vmmKinds: VmmKinds,
    private readonly shares: Shares,
    private readonly workflows: Workflows,
    private readonly createWorkflow: CreateInstanceWorkflow,
    private readonly createInstancesWorkflow: CreateInstanceBatchWorkflow,
  ) {}

  /** Checks everything that can be known now, then records the instance together with its task. */
  async create(op: Op, caller: Caller, project: ProjectRef, input: z.output<typeof createInstance>): Promise<Accepted> {
    const instance = instanceOf(input.name, await this.plan(op, caller, project, input, [input.name]));
    await this.refuseWithoutHost(op, caller, instance);
    const task = await startOn(this.workflows, op, caller, this.createWorkflow.definition, instance, {
      instanceId: instance.id,
      project: project.name,
    });
    await this.record(op, [instance], task.id);
    return { instance: await this.presenter.one(op, instance, caller.access.principal), taskId: task.id };
  }

  /** As `create`, for `count` instances with one task: `<name>-1` and so on. */
  async createBatch(
    op: Op,
    caller: Caller,
    project: ProjectRef,
    input: z.output<typeof createInstances>,
  ): Promise<{ instances: Instance[]; taskId: string }> {
    const made = await this.createAll(op, caller, project, input, numbered(input.name, input.count));
    const [instance] = made;
    if (!instance) throw new Error('at least one is asked for');
    await this.refuseWithoutHost(op, caller, instance);
    const subject = {
      ...instance,
      name: made.length === 1 ? instance.name : `${instance.name} to ${made.at(-1)?.name ?? ''}`,
    };
    const task = await startOn(this.workflows, op, caller, this.createInstancesWorkflow.definition, subject, {
      instanceIds: made.map(({ id }) => id),
      project: project.name,
    });
    await this.record(op, made, task.id);
    return { instances: await this.presenter.many(op, made, caller.access.principal), taskId: task.id };
  }

  /**
   * All that a create looks at before it records anything, with its refusals, for forms that want to know early. Room
   * is looked for one of them.
   * @param input a count of 1 is a create of one, whose name gets no number
   */
  async check(
    op: Op,
    caller: Caller,
    project: ProjectRef,
    input: z.output<typeof createInstances>,
  ): Promise<z.output<typeof instanceCheck>> {
    const made = await this.createAll(
      op,
      caller,
      project,
      input,
      input.count === 1 ? [input.name] : numbered(input.name, input.count),
    );
    for (const instance of made.slice(0, 1)) await this.refuseWithoutHost(op, caller, instance);
    const candidates = made.map(({ name, id }) => hostnamesFrom(name, id));
    const taken = new Set(await this.instances.hostnamesTaken(op, project.id, candidates.flat()));
    return {
      hostnames: candidates.map((names) => {
        const hostname = names.find((name) => !taken.has(name)) ?? '';
        taken.add(hostname);
        return hostname;
      }),
    };
  }

  private async createAll(
    op: Op,
    caller: Caller,
    project: ProjectRef,
    { count: _count, ...input }: z.output<typeof createInstances>,
    names: readonly string[],
  ): Promise<InstanceEntity[]> {
    if (!displayName.safeParse(names.at(-1)).success)
      throw unprocessable('body.name', 'too_long', 'With its number it may have 63 characters at most.');
    const fixed = input.networks.findIndex(({ address }) => address != null);
    if (fixed >= 0 && names.length > 1)
      throw unprocessable(
        `body.networks.${fixed}.address`,
        'address_for_several',
        'Several instances cannot have the same address: leave it out.',
      );
    const plan = await this.plan(op, caller, project, input, names);
    return names.map((name) => instanceOf(name, plan));
  }

  /** What instances of these names would have in common, once everything is checked that can be known now. */
  private async plan(
    op: Op,
    caller: Caller,
    project: ProjectRef,
    input: z.output<typeof createInstance>,
    names: readonly string[],
  ): Promise<InstancePlan> {
    const userDataBytes = Buffer.byteLength(input.userData ?? '', 'base64');
    if (userDataBytes > maxUserDataBytes)
      throw unprocessable(
        'body.userData',
        'too_long',
        `User data may have ${maxUserDataBytes} bytes at most; this has ${userDataBytes}.`,
      );
    const wanted = input.networks.map(({ network, address, defaultRoute, securityGroups }) => ({
      network,
      ...(address != null && { address }),
      ...(defaultRoute === true && { defaultRoute }),
      ...(securityGroups != null && { securityGroups }),
    }));
    // None needs another's result: they leave together, and what is wrong is told in this order.
    const [, , flavor, image, nics, sshKeys] = await atOnce(
      this.projects.hold(op, project.id),
      this.refuseTaken(op, project.id, names),
      this.flavors.require(op, input.flavor),
      this.images.requireReady(op, project.id, input.image),
      this.ports.check(op, project.id, wanted, (index) => `body.networks.${index}`),
      this.sshKeys.resolve(op, project.id, input.sshKeys, 'body.sshKeys'),
    );
    if (flavor.diskBytes > 0 && flavor.diskBytes < image.virtualBytes) {
      throw unprocessable(
        'body.flavor',
        'disk_too_small',
        `The flavor's disk is smaller than the image, which needs ${image.virtualBytes} bytes.`,
      );
    }
    refuseLowMaximum(input, flavor);
    const fixed = fixedMaximum(input, flavor.hardware);
    if (fixed) throw unprocessable(`body.${fixed.field}`, 'dedicated_cpus_are_fixed', fixed.detail);
    if (input.machine.secureBoot && image.firmware === 'bios')
      throw unprocessable(
        'body.machine.secureBoot',
        'secure_boot_needs_uefi',
        'The image boots by BIOS, and only a UEFI can refuse what is not signed.',
      );
    if (input.machine.secureBoot && image.kernel !== null) throw kernelIsUnsigned('body.machine.secureBoot');
    refuseHugePages('body.machine.balloon', input.machine, flavor.hardware);
    refuseLargeKernel(flavor.memoryBytes, image.kernel);
    await this.shares.check(op, project.id, input.shares);
    const wantedVmm = await this.wantedVmm(op, { instance: input.vmm, flavor: flavor.vmm, image: image.vmm });
    const wantedHostId = await this.wantedHost(op, caller, input.host);
    return {
      projectId: project.id,
      createdBy: caller.access.principal.id,
      description: input.description,
      userData: input.userData ?? '',
      configDrive: input.configDrive,
      machine: askedOfMachine(input.machine),
      shares: input.shares,
      maxVcpus: input.maxVcpus,
      maxMemoryBytes: input.maxMemoryBytes,
      stopGraceSeconds: input.stopGraceSeconds,
      tags: input.tags,
      metadata: input.metadata,
      protected: input.protected,
      restartPolicy: input.restartPolicy,
      flavor,
      image,
      nics,
      sshKeys,
      wantedHostId,
      wantedVmm,
    };
  }

  private async refuseTaken(op: Op, projectId: string, names: readonly string[]): Promise<void> {
    const [taken] = await this.instances.namesTaken(op, projectId, names);
    if (taken !== undefined) throw nameTaken('instance', taken);
  }

  private async record(op: Op, instances: InstanceEntity[], taskId: string): Promise<void> {
    for (const instance of instances) {
      instance.taskId = taskId;
      await this.insert(op, instance);
      await this.events.changed(op, 'created', instance);
    }
  }

  /** Names that differ may give one hostname: the later one gets a number. */
  private async insert(op: Op, instance: InstanceEntity): Promise<void> {
    for (const hostname of hostnamesFrom(instance.name, instance.id)) {
      instance.hostname = hostname;
      if (await this.instances.insert(op, instance)) return;
    }
    throw new Error('the last hostname has the id in it');
  }

  private async refuseWithoutHost(op: Op, caller: Caller, instance: InstanceEntity): Promise<void> {
    const request = placementRequest(instance, this.volumes.rootPool());
    if (await this.placement.fits(op, request)) return;
    const verdicts = await this.placement.explain(op, request);
    if (!verdicts.some((v) => v.fits)) throw new PlacementRefusal(verdicts, seesHosts(caller.access.principal));
  }

  private async wantedVmm(op: Op, asked: AskedVmms): Promise<string | null> {
    const agreed = agreedVmm(asked);
    if (agreed) await this.vmmKinds.check(op, agreed.kind, agreed.path);
    return agreed?.kind ?? null;
  }

  private async wantedHost(op: Op, caller: Caller, ref: string | undefined): Promise<string | null> {
    if (ref === undefined) return null;
    if (!allowedGlobally(caller.access.principal, 'host:place')) throw forbidden('host:place');
    return hostIdOf(this.hosts, op, caller.access.principal, ref, 'body.host');
  }
}
