import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, unprocessable } from '../../../../core/errors/problem';
import type { Page } from '../../../../core/http/routes/pagination';
import { pickByRef } from '../../../../core/http/routes/pick-by-ref';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { Hosts } from '../../../host/contract/host.ports';
import { InstancePorts } from '../../../network/contract/network.ports';
import type { Instance, instanceListQuery, InstanceState, updateInstance } from '../../contract/compute.api';
import { hostIdOf } from './host-ref';
import type { InstanceEntity } from './instance.entity';
import { InstanceEvents } from './instance.events';
import { InstancePresenter } from './instance.presenter';
import { InstanceTombstoneRepository } from './instance-tombstone.repository';
import { InstanceRepository } from './instance.repository';
import { startOn, type Accepted, type Caller } from './instance-task';
import { DeleteInstanceWorkflow } from '../workflows/delete-instance.workflow';
import { RebootInstanceWorkflow } from '../workflows/reboot-instance.workflow';
import { StartInstanceWorkflow } from '../workflows/start-instance.workflow';
import { StopInstanceWorkflow } from '../workflows/stop-instance.workflow';

/** Instances that one search by address may find: their ids go into the statement of the list. */
const mostAtAddress = 1000;

/** Everything about instances that are there; how they come is `InstanceCreation`. */
@injectable()
export class InstanceService {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly tombstones: InstanceTombstoneRepository,
    private readonly presenter: InstancePresenter,
    private readonly events: InstanceEvents,
    private readonly hosts: Hosts,
    private readonly ports: InstancePorts,
    private readonly workflows: Workflows,
    private readonly deleteWorkflow: DeleteInstanceWorkflow,
    private readonly startWorkflow: StartInstanceWorkflow,
    private readonly stopWorkflow: StopInstanceWorkflow,
    private readonly rebootWorkflow: RebootInstanceWorkflow,
  ) {}

  async list(
    op: Op,
    access: Access,
    projectId: string | undefined,
    filter: z.output<typeof instanceListQuery>,
  ): Promise<Page<Instance>> {
    const hostId =
      filter.host === undefined
        ? undefined
        : await hostIdOf(this.hosts, op, access.principal, filter.host, 'query.host');
    const projects = projectId === undefined ? access.projects : [projectId];
    const page = await this.instances.list(op, projects, filter, hostId, await this.atAddress(op, projects, filter.q));
    return { items: await this.presenter.many(op, page.rows, access.principal), next: page.next };
  }

  async get(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<Instance> {
    const instance = await pickByRef('instance', ref, projectId, access, {
      byId: (id) => this.instances.shown(op, id),
      named: (projects, name) => this.instances.shownNamed(op, projects, name),
    });
    return this.presenter.one(op, instance, access.principal);
  }

  /** Changes what was given, at once and whatever runs. The guest keeps its hostname. 409 `name_taken`. */
  async update(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    input: z.output<typeof updateInstance>,
  ): Promise<Instance> {
    const instance = await this.lockByRef(op, access, projectId, ref);
    const changes = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.description !== undefined && { description: input.description }),
      ...(input.stopGraceSeconds !== undefined && { stopGraceSeconds: input.stopGraceSeconds }),
    };
    if (Object.keys(changes).length === 0) return this.presenter.one(op, instance, access.principal);
    await this.instances.edit(op, instance.id, changes);
    const changed = { ...instance, ...changes };
    await this.events.changed(op, 'updated', changed);
    return this.presenter.one(op, changed, access.principal);
  }

  async delete(op: Op, caller: Caller, projectId: string | undefined, ref: string): Promise<Accepted> {
    const instance = await this.lockByRef(op, caller.access, projectId, ref);
    const task = await startOn(this.workflows, op, caller, this.deleteWorkflow.definition, instance, {
      instanceId: instance.id,
    });
    return this.accepted(op, caller, instance, { state: 'deleting', taskId: task.id });
  }

  async startUp(op: Op, caller: Caller, projectId: string | undefined, ref: string): Promise<Accepted> {
    const instance = await this.lockByRef(op, caller.access, projectId, ref);
    await this.refuseIn(op, instance, ['running'], 'instance_running', 'It is running already.');
    const task = await startOn(this.workflows, op, caller, this.startWorkflow.definition, instance, {
      instanceId: instance.id,
    });
    return this.accepted(op, caller, instance, {
      state: 'starting',
      taskId: task.id,
      power: 'on',
      generation: instance.generation + 1,
    });
  }

  async stop(
    op: Op,
    caller: Caller,
    projectId: string | undefined,
    ref: string,
    request: { force: boolean; graceSeconds?: number | undefined },
  ): Promise<Accepted> {
    const instance = await this.lockByRef(op, caller.access, projectId, ref);
    await this.refuseIn(op, instance, ['stopped'], 'instance_stopped', 'It is stopped already.');
    const graceSeconds = request.force ? 0 : (request.graceSeconds ?? instance.stopGraceSeconds);
    const task = await startOn(this.workflows, op, caller, this.stopWorkflow.definition, instance, {
      instanceId: instance.id,
      graceSeconds,
    });
    return this.accepted(op, caller, instance, {
      state: 'stopping',
      taskId: task.id,
      power: 'off',
      generation: instance.generation + 1,
    });
  }

  async reboot(
    op: Op,
    caller: Caller,
    projectId: string | undefined,
    ref: string,
    request: { force: boolean },
  ): Promise<Accepted> {
    const instance = await this.lockByRef(op, caller.access, projectId, ref);
    await this.refuseIn(op, instance, ['stopped'], 'instance_stopped', 'It is stopped: start it.');
    const task = await startOn(this.workflows, op, caller, this.rebootWorkflow.definition, instance, {
      instanceId: instance.id,
      force: request.force,
      graceSeconds: instance.stopGraceSeconds,
    });
    return this.accepted(op, caller, instance, { state: 'rebooting', taskId: task.id });
  }

  /** The instance with permission checked; for the console and other readers. */
  pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<InstanceEntity> {
    return pickByRef('instance', ref, projectId, access, {
      byId: (id) => this.instances.byId(op, id),
      named: (projects, name) => this.instances.named(op, projects, name),
    });
  }

  private async atAddress(op: Op, projects: 'all' | readonly string[], q: string | undefined): Promise<string[]> {
    if (q === undefined) return [];
    const found = await this.ports.instancesAt(op, projects, q, mostAtAddress + 1);
    if (found.length > mostAtAddress)
      throw unprocessable(
        'query.q',
        'too_many_addresses',
        `More than ${mostAtAddress} instances have an address that begins with ${q}: give more of it.`,
      );
    return found;
  }

  private async lockByRef(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<InstanceEntity> {
    const picked = await this.pick(op, access, projectId, ref);
    return (await this.instances.lock(op, picked.id)) ?? picked;
  }

  private async refuseIn(
    op: Op,
    instance: InstanceEntity,
    states: InstanceState[],
    code: string,
    detail: string,
  ): Promise<void> {
    if (instance.state !== 'deleting' && (await this.tombstones.hasBegun(op, instance.id)))
      throw conflict(
        'deletion_begun',
        'A deletion of it has begun and did not come to its end: parts of it may be gone. It can only be deleted.',
        { state: instance.state },
      );
    if (states.includes(instance.state)) throw conflict(code, detail, { state: instance.state });
    if (instance.state === 'building' && instance.taskId !== null)
      throw conflict('task_running', 'It is still being made. Wait for its task, or delete it.', {
        task: instance.taskId,
      });
    if (instance.hostId === null)
      throw conflict('instance_has_no_host', 'It has no host. It can only be deleted.', { state: instance.state });
  }

  private async accepted(
    op: Op,
    caller: Caller,
    instance: InstanceEntity,
    changes: Partial<Pick<InstanceEntity, 'state' | 'taskId' | 'power' | 'generation'>>,
  ): Promise<Accepted> {
    const next = { stateReason: '', ...changes };
    await this.instances.update(op, instance.id, next);
    const changed = { ...instance, ...next };
    await this.events.changed(op, 'updated', changed);
    if (changed.taskId === null) throw new Error('an accepted verb has a task');
    return { instance: await this.presenter.one(op, changed, caller.access.principal), taskId: changed.taskId };
  }
}
