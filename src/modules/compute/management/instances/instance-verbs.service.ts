import { injectable } from 'inversify';
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, notFound } from '../../../../core/errors/problem';
import type { WorkflowDefinition } from '../../../../core/workflow/definition/definition';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { guardRefusal } from '../../contract/instance-guards';
import { Projects } from '../../../identity/contract/identity.ports';
import { InstancePorts, type InstancePort } from '../../../network/contract/network.ports';
import { type attachPort, mostPorts } from '../../contract/compute.api';
import { instanceVerbs, refusalOf, type InstanceVerb } from '../../contract/instance-states';
import { AttachPortWorkflow } from '../workflows/attach-port.workflow';
import { DeleteInstanceWorkflow } from '../workflows/delete-instance.workflow';
import { DetachPortWorkflow } from '../workflows/detach-port.workflow';
import { NmiInstanceWorkflow } from '../workflows/nmi-instance.workflow';
import { PauseInstanceWorkflow } from '../workflows/pause-instance.workflow';
import { RebootInstanceWorkflow } from '../workflows/reboot-instance.workflow';
import { ResumeInstanceWorkflow } from '../workflows/resume-instance.workflow';
import { StartInstanceWorkflow } from '../workflows/start-instance.workflow';
import { StopInstanceWorkflow } from '../workflows/stop-instance.workflow';
import { SuspendInstanceWorkflow } from '../workflows/suspend-instance.workflow';
import { TellMetadataWorkflow } from '../workflows/tell-metadata.workflow';
import { UnpauseInstanceWorkflow } from '../workflows/unpause-instance.workflow';
import type { InstanceEntity } from './instance.entity';
import { InstanceEvents } from './instance.events';
import { InstancePresenter } from './instance.presenter';
import { InstanceRepository } from './instance.repository';
import { InstanceService } from './instance.service';
import { startOn, type Accepted, type Caller } from './instance-task';
import { InstanceTombstoneRepository } from './instance-tombstone.repository';

/** What a verb records of the instance when it is asked for. */
type Changes = Partial<Pick<InstanceEntity, 'power' | 'generation' | 'metadata'>>;

/** An instance by id or name, for a caller. */
export interface Of {
  caller: Caller;
  projectId: string | undefined;
  ref: string;
}

/** What a task does to an instance. Refused at once where the state machine says so, naming the state. */
@injectable()
export class InstanceVerbs {
  constructor(
    private readonly instances: InstanceRepository,
    private readonly found: InstanceService,
    private readonly tombstones: InstanceTombstoneRepository,
    private readonly presenter: InstancePresenter,
    private readonly events: InstanceEvents,
    private readonly workflows: Workflows,
    private readonly deletion: DeleteInstanceWorkflow,
    private readonly starting: StartInstanceWorkflow,
    private readonly stopping: StopInstanceWorkflow,
    private readonly rebooting: RebootInstanceWorkflow,
    private readonly pausing: PauseInstanceWorkflow,
    private readonly suspending: SuspendInstanceWorkflow,
    private readonly resuming: ResumeInstanceWorkflow,
    private readonly unpausing: UnpauseInstanceWorkflow,
    private readonly interrupting: NmiInstanceWorkflow,
    private readonly telling: TellMetadataWorkflow,
    private readonly projects: Projects,
    private readonly ports: InstancePorts,
    private readonly attaching: AttachPortWorkflow,
    private readonly detaching: DetachPortWorkflow,
  ) {}

  /** In any state; it preempts what runs on the instance. 409 `instance_protected`. */
  async delete(op: Op, of: Of): Promise<Accepted> {
    const instance = await this.lock(op, of);
    const refusal = guardRefusal(instance, true);
    if (refusal) throw conflict(refusal.code, refusal.detail, { state: instance.state });
    const task = await startOn(this.workflows, op, of.caller, this.deletion.definition, instance, {
      instanceId: instance.id,
    });
    return this.accepted(op, of.caller, instance, { state: 'deleting', taskId: task.id });
  }

  async start(op: Op, of: Of): Promise<Accepted> {
    const instance = await this.lock(op, of);
    return this.ask(op, of, 'start', instance, this.starting.definition, {}, powered(instance, 'on'));
  }

  async stop(op: Op, of: Of, request: { force: boolean; graceSeconds?: number | undefined }): Promise<Accepted> {
    const instance = await this.lock(op, of);
    const graceSeconds = request.force ? 0 : (request.graceSeconds ?? instance.stopGraceSeconds);
    const verb = graceSeconds === 0 ? 'force-stop' : 'stop';
    return this.ask(op, of, verb, instance, this.stopping.definition, { graceSeconds }, powered(instance, 'off'));
  }

  async reboot(op: Op, of: Of, { force }: { force: boolean }): Promise<Accepted> {
    const instance = await this.lock(op, of);
    const graceSeconds = instance.stopGraceSeconds;
    return this.ask(op, of, 'reboot', instance, this.rebooting.definition, { force, graceSeconds });
  }

  async pause(op: Op, of: Of): Promise<Accepted> {
    return this.ask(op, of, 'pause', await this.lock(op, of), this.pausing.definition, {});
  }

  async resume(op: Op, of: Of): Promise<Accepted> {
    const instance = await this.lock(op, of);
    // Of a silent host's the last that it said.
    const suspended = (instance.state === 'unknown' ? instance.observedState : instance.state) === 'suspended';
    const { definition } = suspended ? this.resuming : this.unpausing;
    return this.ask(op, of, 'resume', instance, definition, {});
  }

  /** 409 `has_shares`: what gives them out keeps nothing of a guest. */
  async suspend(op: Op, of: Of): Promise<Accepted> {
    const instance = await this.lock(op, of);
    await this.refuse(op, instance, 'suspend');
    if (instance.shares.length > 0)
      throw conflict('has_shares', 'An instance with shares cannot be suspended: stop it instead.', {});
    return this.ask(op, of, 'suspend', instance, this.suspending.definition, {});
  }

  async nmi(op: Op, of: Of): Promise<Accepted> {
    return this.ask(op, of, 'nmi', await this.lock(op, of), this.interrupting.definition, {});
  }

  /**
   * Records the metadata, and has a task bring it to the host.
   * @param instance held by the caller's transaction
   */
  async tellMetadata(
    op: Op,
    of: Of,
    instance: InstanceEntity,
    metadata: InstanceEntity['metadata'],
  ): Promise<Accepted> {
    const project = (await this.projects.names(op, [instance.projectId])).get(instance.projectId) ?? '';
    const input = { project, before: instance.metadata };
    return this.ask(op, of, 'tell-metadata', instance, this.telling.definition, input, { metadata });
  }

  /**
   * One card more, on a network of its project. 404, 409 `no_free_address`, 422 of the network module; 409
   * `too_many_ports`.
   */
  async attachPort(
    op: Op,
    of: Of,
    { network, address, securityGroups }: z.output<typeof attachPort>,
  ): Promise<Accepted & { portId: string }> {
    const instance = await this.lock(op, of);
    await this.refuse(op, instance, 'attach-port');
    const asked = [{ network, ...(address != null && { address }), ...(securityGroups != null && { securityGroups }) }];
    const [nic] = await this.ports.check(op, instance.projectId, asked, () => 'body');
    if (!nic) throw new Error('one card in, one out');
    if ((await this.portsOf(op, instance)).length >= mostPorts)
      throw conflict('too_many_ports', `An instance has ${mostPorts} ports at most.`, {});
    const portId: string = randomUUID();
    // The network is in use from here on: nobody deletes it while the task is on its way.
    await this.instances.setNics(op, instance.id, [...instance.nics, { networkId: nic.networkId }]);
    const next = { generation: instance.generation + 1 };
    const accepted = await this.ask(op, of, 'attach-port', instance, this.attaching.definition, { portId, nic }, next);
    return { ...accepted, portId };
  }

  /** 404 for a port that is not its own, 409 `last_port`. */
  async detachPort(op: Op, of: Of, portId: string): Promise<Accepted> {
    const instance = await this.lock(op, of);
    await this.refuse(op, instance, 'detach-port');
    const own = await this.portsOf(op, instance);
    if (!own.some(({ id }) => id === portId)) throw notFound('port', portId);
    // Its VMM lives in the namespace that its ports are in: without one there would be no such place.
    if (own.length === 1)
      throw conflict('last_port', 'It is the only port of the instance, which keeps one: attach another first.', {});
    const next = { generation: instance.generation + 1 };
    return this.ask(op, of, 'detach-port', instance, this.detaching.definition, { portId }, next);
  }

  private async portsOf(op: Op, { id }: InstanceEntity): Promise<InstancePort[]> {
    return (await this.ports.of(op, [id])).get(id) ?? [];
  }

  private lock(op: Op, { caller, projectId, ref }: Of): Promise<InstanceEntity> {
    return this.found.lockByRef(op, caller.access, projectId, ref);
  }

  /** @param instance held by the caller's transaction */
  async ask<I extends object>(
    op: Op,
    { caller }: Of,
    verb: InstanceVerb,
    instance: InstanceEntity,
    definition: WorkflowDefinition<I & { instanceId: string }, never>,
    input: I,
    changes: Changes = {},
  ): Promise<Accepted> {
    await this.refuse(op, instance, verb);
    const task = await startOn(this.workflows, op, caller, definition, instance, { ...input, instanceId: instance.id });
    const { during } = instanceVerbs[verb];
    const state = during === null ? { state: instance.state, stateReason: instance.stateReason } : { state: during };
    return this.accepted(op, caller, instance, { ...state, taskId: task.id, ...changes });
  }

  /** Throws why the verb may not be asked of it now. */
  async refuse(op: Op, instance: InstanceEntity, verb: InstanceVerb): Promise<void> {
    const { state } = instance;
    if (state !== 'deleting' && (await this.tombstones.hasBegun(op, instance.id)))
      throw conflict(
        'deletion_begun',
        'A deletion of it has begun and did not come to its end: parts of it may be gone. It can only be deleted.',
        { state },
      );
    const refusal = refusalOf(verb, instance);
    if (refusal) throw conflict(refusal.code, refusal.detail, { state });
    if (state === 'building' && instance.taskId !== null)
      throw conflict('task_running', 'It is still being made. Wait for its task, or delete it.', {
        task: instance.taskId,
      });
    if (instance.hostId === null)
      throw conflict('instance_has_no_host', 'It has no host. It can only be deleted.', { state });
  }

  private async accepted(
    op: Op,
    caller: Caller,
    instance: InstanceEntity,
    changes: Pick<InstanceEntity, 'state'> & { taskId: string; stateReason?: string } & Changes,
  ): Promise<Accepted> {
    const next = { stateReason: '', ...changes };
    await this.instances.update(op, instance.id, next);
    const changed = { ...instance, ...next };
    await this.events.changed(op, 'updated', changed);
    return { instance: await this.presenter.one(op, changed, caller.access.principal), taskId: changes.taskId };
  }
}

/** What its host shall accept over what it was told before. */
export const powered = (
  instance: InstanceEntity,
  power: 'on' | 'off',
): Pick<InstanceEntity, 'power' | 'generation'> => ({
  power,
  generation: instance.generation + 1,
});
