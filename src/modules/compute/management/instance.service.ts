import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../core/auth/access';
import type { ProjectRef } from '../../../core/auth/authenticator';
import { allowedGlobally } from '../../../core/auth/permissions';
import type { Op } from '../../../core/db/op';
import { conflict, forbidden, nameTaken, unprocessable } from '../../../core/errors/problem';
import type { Page } from '../../../core/http/pagination';
import { displayName } from '../../../core/http/fields';
import { pickByRef } from '../../../core/http/pick-by-ref';
import type { WorkflowDefinition } from '../../../core/workflow/definition';
import { Workflows } from '../../../core/workflow/workflows';
import { Hosts } from '../../host/contract/host.ports';
import { Projects } from '../../identity/contract/identity.ports';
import { Images } from '../../image/contract/image.ports';
import { InstancePorts } from '../../network/contract/network.ports';
import { PlacementRefusal } from '../../scheduler/contract/placement-refusal';
import { Placement } from '../../scheduler/contract/scheduler.ports';
import type { createInstance, createInstances, Instance, instanceListQuery, InstanceState } from '../contract/compute.api';
import { FlavorService } from './flavor.service';
import type { InstanceEntity } from './instance.entity';
import { instanceOf, type InstancePlan } from './instance-plan';
import { InstanceEvents } from './instance.events';
import { InstancePresenter } from './instance.presenter';
import { InstanceRepository } from './instance.repository';
import { SshKeyService } from './ssh-key.service';
import { CreateInstanceWorkflow } from './workflows/create-instance.workflow';
import { CreateInstancesWorkflow } from './workflows/create-instances.workflow';
import { DeleteInstanceWorkflow } from './workflows/delete-instance.workflow';
import { RebootInstanceWorkflow } from './workflows/reboot-instance.workflow';
import { StartInstanceWorkflow } from './workflows/start-instance.workflow';
import { StopInstanceWorkflow } from './workflows/stop-instance.workflow';

export interface Caller {
  access: Access;
  requestId: string;
}

export interface Accepted {
  instance: Instance;
  taskId: string;
}

export interface AcceptedSeveral {
  instances: Instance[];
  taskId: string;
}

const maxUserDataBytes = 65_536;

@injectable()
export class InstanceService {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly presenter: InstancePresenter,
    private readonly events: InstanceEvents,
    private readonly flavors: FlavorService,
    private readonly sshKeys: SshKeyService,
    private readonly images: Images,
    private readonly ports: InstancePorts,
    private readonly placement: Placement,
    private readonly hosts: Hosts,
    private readonly projects: Projects,
    private readonly workflows: Workflows,
    private readonly createWorkflow: CreateInstanceWorkflow,
    private readonly createSeveralWorkflow: CreateInstancesWorkflow,
    private readonly deleteWorkflow: DeleteInstanceWorkflow,
    private readonly startWorkflow: StartInstanceWorkflow,
    private readonly stopWorkflow: StopInstanceWorkflow,
    private readonly rebootWorkflow: RebootInstanceWorkflow,
  ) {}

  /** Checks everything that can be known now, then records the instance together with its task. */
  async create(op: Op, caller: Caller, project: ProjectRef, input: z.output<typeof createInstance>): Promise<Accepted> {
    const instance = instanceOf(input.name, await this.plan(op, caller, project, input, [input.name]));
    await this.refuseWithoutHost(op, instance);
    const task = await this.start(op, caller, this.createWorkflow.definition, instance, { instanceId: instance.id, project: project.name });
    await this.record(op, [instance], task.id);
    return { instance: await this.presenter.one(op, instance), taskId: task.id };
  }

  /** As `create`, for `count` instances with one task: `<name>-1` and so on. */
  async createSeveral(op: Op, caller: Caller, project: ProjectRef, { count, ...input }: z.output<typeof createInstances>): Promise<AcceptedSeveral> {
    const names = Array.from({ length: count }, (_, i) => `${input.name}-${i + 1}`);
    const first = names[0] ?? input.name;
    const last = names.at(-1) ?? first;
    if (!displayName.safeParse(last).success) throw unprocessable('body.name', 'too_long', 'With its number it may have 63 characters at most.');
    const fixed = input.networks.findIndex(({ address }) => address !== undefined);
    if (fixed >= 0 && count > 1) throw unprocessable(`body.networks.${fixed}.address`, 'address_for_several', 'Several instances cannot have the same address: leave it out.');
    const plan = await this.plan(op, caller, project, input, names);
    const made = names.map((name) => instanceOf(name, plan));
    const [instance] = made;
    if (!instance) throw new Error('at least one is asked for');
    await this.refuseWithoutHost(op, instance);
    const subject = { ...instance, name: count === 1 ? first : `${first} to ${last}` };
    const task = await this.start(op, caller, this.createSeveralWorkflow.definition, subject, { instanceIds: made.map(({ id }) => id), project: project.name });
    await this.record(op, made, task.id);
    return { instances: await this.presenter.many(op, made), taskId: task.id };
  }

  async list(op: Op, access: Access, projectId: string | undefined, filter: z.output<typeof instanceListQuery>): Promise<Page<Instance>> {
    const hostId = filter.host === undefined ? undefined : await this.hostId(op, filter.host, 'query.host');
    const page = await this.instances.list(op, projectId === undefined ? access.projects : [projectId], filter, hostId);
    return { items: await this.presenter.many(op, page.rows), next: page.next };
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<Instance> {
    return this.presenter.one(op, await this.pick(op, access, projectId, ref));
  }

  async delete(op: Op, caller: Caller, projectId: string | undefined, ref: string): Promise<Accepted> {
    const instance = await this.lockByRef(op, caller.access, projectId, ref);
    const task = await this.start(op, caller, this.deleteWorkflow.definition, instance, { instanceId: instance.id });
    return this.accepted(op, instance, { state: 'deleting', taskId: task.id });
  }

  async startUp(op: Op, caller: Caller, projectId: string | undefined, ref: string): Promise<Accepted> {
    const instance = await this.lockByRef(op, caller.access, projectId, ref);
    this.refuseIn(instance, ['running'], 'instance_running', 'It is running already.');
    const task = await this.start(op, caller, this.startWorkflow.definition, instance, { instanceId: instance.id });
    return this.accepted(op, instance, { state: 'starting', taskId: task.id, power: 'on', generation: instance.generation + 1 });
  }

  async stop(op: Op, caller: Caller, projectId: string | undefined, ref: string, request: { force: boolean; graceSeconds?: number | undefined }): Promise<Accepted> {
    const instance = await this.lockByRef(op, caller.access, projectId, ref);
    this.refuseIn(instance, ['stopped'], 'instance_stopped', 'It is stopped already.');
    const graceSeconds = request.force ? 0 : (request.graceSeconds ?? instance.stopGraceSeconds);
    const task = await this.start(op, caller, this.stopWorkflow.definition, instance, { instanceId: instance.id, graceSeconds });
    return this.accepted(op, instance, { state: 'stopping', taskId: task.id, power: 'off', generation: instance.generation + 1 });
  }

  async reboot(op: Op, caller: Caller, projectId: string | undefined, ref: string, request: { force: boolean }): Promise<Accepted> {
    const instance = await this.lockByRef(op, caller.access, projectId, ref);
    this.refuseIn(instance, ['stopped'], 'instance_stopped', 'It is stopped: start it.');
    const task = await this.start(op, caller, this.rebootWorkflow.definition, instance, { instanceId: instance.id, force: request.force, graceSeconds: instance.stopGraceSeconds });
    return this.accepted(op, instance, { state: 'rebooting', taskId: task.id });
  }

  /** The instance with permission checked; for the console and other readers. */
  pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<InstanceEntity> {
    return pickByRef('instance', ref, projectId, access, {
      byId: (id) => this.instances.byId(op, id),
      named: (projects, name) => this.instances.named(op, projects, name),
    });
  }

  private async lockByRef(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<InstanceEntity> {
    const picked = await this.pick(op, access, projectId, ref);
    return (await this.instances.lock(op, picked.id)) ?? picked;
  }

  private refuseIn(instance: InstanceEntity, states: InstanceState[], code: string, detail: string): void {
    if (states.includes(instance.state)) throw conflict(code, detail, { state: instance.state });
    if (instance.state === 'building' && instance.taskId !== null) throw conflict('task_running', 'It is still being made. Wait for its task, or delete it.', { task: instance.taskId });
    if (instance.hostId === null) throw conflict('instance_has_no_host', 'It has no host. It can only be deleted.', { state: instance.state });
  }

  private async accepted(op: Op, instance: InstanceEntity, changes: Partial<Pick<InstanceEntity, 'state' | 'taskId' | 'power' | 'generation'>>): Promise<Accepted> {
    const next = { stateReason: '', ...changes };
    await this.instances.update(op, instance.id, next);
    const changed = { ...instance, ...next };
    await this.events.changed(op, 'updated', changed);
    if (changed.taskId === null) throw new Error('an accepted verb has a task');
    return { instance: await this.presenter.one(op, changed), taskId: changed.taskId };
  }

  private start<I>(op: Op, caller: Caller, definition: WorkflowDefinition<I, never>, instance: InstanceEntity, input: I): Promise<{ id: string }> {
    return this.workflows.start(op, definition, input, {
      projectId: instance.projectId,
      subject: { kind: 'instance', id: instance.id, name: instance.name },
      createdBy: caller.access.principal.id,
      requestId: caller.requestId,
    });
  }

  /** What instances of these names would have in common, once everything is checked that can be known now. */
  private async plan(op: Op, caller: Caller, project: ProjectRef, input: z.output<typeof createInstance>, names: readonly string[]): Promise<InstancePlan> {
    await this.projects.hold(op, project.id);
    const [taken] = await this.instances.namesTaken(op, project.id, names);
    if (taken !== undefined) throw nameTaken('instance', taken);
    if (Buffer.byteLength(input.userData, 'base64') > maxUserDataBytes) throw unprocessable('body.userData', 'too_long', `User data may have ${maxUserDataBytes} bytes at most.`);
    const flavor = await this.flavors.require(op, input.flavor);
    const image = await this.images.requireReady(op, project.id, input.image);
    const nics = await this.ports.check(op, project.id, input.networks, 'body.networks');
    const sshKeys = await this.sshKeys.resolve(op, project.id, input.sshKeys, 'body.sshKeys');
    if (flavor.diskBytes > 0 && flavor.diskBytes < image.virtualBytes) {
      throw unprocessable('body.flavor', 'disk_too_small', `The flavor's disk is smaller than the image, which needs ${image.virtualBytes} bytes.`);
    }
    const wantedHostId = await this.wantedHost(op, caller, input.host);
    return { projectId: project.id, createdBy: caller.access.principal.id, description: input.description, userData: input.userData, stopGraceSeconds: input.stopGraceSeconds, flavor, image, nics, sshKeys, wantedHostId };
  }

  private async record(op: Op, instances: InstanceEntity[], taskId: string): Promise<void> {
    for (const instance of instances) {
      instance.taskId = taskId;
      await this.instances.insert(op, instance);
      await this.events.changed(op, 'created', instance);
    }
  }

  private async refuseWithoutHost(op: Op, instance: InstanceEntity): Promise<void> {
    const verdicts = await this.placement.explain(op, {
      instanceId: instance.id,
      projectId: instance.projectId,
      vcpus: instance.vcpus,
      memoryBytes: instance.memoryBytes,
      diskBytes: instance.diskBytes,
      architecture: instance.architecture,
      ...(instance.wantedHostId !== null && { hostId: instance.wantedHostId }),
    });
    if (!verdicts.some((v) => v.fits)) throw new PlacementRefusal(verdicts);
  }

  private async wantedHost(op: Op, caller: Caller, ref: string | undefined): Promise<string | null> {
    if (ref === undefined) return null;
    if (!allowedGlobally(caller.access.principal, 'host:place')) throw forbidden('host:place');
    return this.hostId(op, ref, 'body.host');
  }

  private async hostId(op: Op, ref: string, path: string): Promise<string> {
    const host = (await this.hosts.all(op)).find((h) => h.id === ref.toLowerCase() || h.name === ref);
    if (!host) throw unprocessable(path, 'unknown_host', `There is no host "${ref.slice(0, 63)}".`);
    return host.id;
  }
}
