import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, notFound, Problem } from '../../../../core/errors/problem';
import { NodeCaller, NodeUnreachableError, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import { Workflows } from '../../../../core/workflow/request/workflows';
import { Hosts } from '../../../host/contract/host.ports';
import type { CoreDumpFormat } from '../../contract/core-dump-formats';
import type { CoreDumpFile } from '../../contract/core-dumps';
import { instanceCoreDumps } from '../../contract/instance.verbs';
import type { VmmCapability } from '../../contract/vmm-capabilities';
import type { InstanceEntity } from '../instances/instance.entity';
import { InstanceService } from '../instances/instance.service';
import { startOn, type Accepted } from '../instances/instance-task';
import { InstanceVerbs, type Of } from '../instances/instance-verbs.service';
import { vmmsOf } from '../vmms/vmm-needs';
import { CoreDumpInstanceWorkflow } from '../workflows/core-dump-instance.workflow';
import { DeleteCoreDumpWorkflow } from '../workflows/delete-core-dump.workflow';

/** An instance with a host. */
export type PlacedInstance = InstanceEntity & { hostId: string };

/** What was in the memory of instances. Their hosts have it, and are asked each time; nothing of it is stored here. */
@injectable()
export class CoreDumps {
  constructor(
    private readonly nodes: NodeCaller,
    private readonly instances: InstanceService,
    private readonly hosts: Hosts,
    private readonly verbs: InstanceVerbs,
    private readonly workflows: Workflows,
    private readonly dumping: CoreDumpInstanceWorkflow,
    private readonly deletion: DeleteCoreDumpWorkflow,
  ) {}

  /** 409 `no_core_dump` where its VMM cannot, and what the state machine says. */
  async make(op: Op, of: Of, format: CoreDumpFormat): Promise<Accepted & { coreDumpId: string }> {
    const instance = await this.instances.lockByRef(op, of.caller.access, of.projectId, of.ref);
    await this.verbs.refuse(op, instance, 'core-dump');
    await this.requireCapable(op, placed(instance));
    const dumpId = timeOrderedUuid();
    const input = { dumpId, format, userId: of.caller.access.principal.id };
    const accepted = await this.verbs.ask(op, of, 'core-dump', instance, this.dumping.definition, input);
    return { ...accepted, coreDumpId: dumpId };
  }

  /** The newest first. 409 `instance_has_no_host`; 503 `host_unreachable`. */
  async list(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    requestId: string,
  ): Promise<{ items: CoreDumpFile[] }> {
    const instance = placed(await this.instances.pick(op, access, projectId, ref));
    return { items: await this.onHost(instance, requestId) };
  }

  /** As `list`, of one; 404 where its host has none of that id. */
  async one(instance: PlacedInstance, dumpId: string, requestId: string): Promise<CoreDumpFile> {
    const found = (await this.onHost(instance, requestId)).find(({ id }) => id === dumpId);
    if (!found) throw notFound('core dump', dumpId);
    return found;
  }

  /** Also of one that its host does not have: whether it has is seen by the task. */
  async remove(op: Op, of: Of, dumpId: string): Promise<{ taskId: string }> {
    const instance = placed(await this.instances.lockByRef(op, of.caller.access, of.projectId, of.ref));
    const userId = of.caller.access.principal.id;
    const input = { instanceId: instance.id, dumpId, userId };
    const task = await startOn(this.workflows, op, of.caller, this.deletion.definition, instance, input);
    return { taskId: task.id };
  }

  private async onHost({ id, hostId, state }: PlacedInstance, requestId: string): Promise<CoreDumpFile[]> {
    try {
      const outcome = await this.nodes.call(hostId, instanceCoreDumps, { instanceId: id }, { requestId });
      if (outcome.done) return outcome.result.dumps;
      throw new Error('a read is answered at once');
    } catch (error) {
      // An agent of before has made none, and one that does not have the instance (it is being made) has none either.
      if (error instanceof NodeVerbError && ['unknown_verb', 'instance_absent'].includes(error.code)) return [];
      throw hostProblem(error, state);
    }
  }

  /** What is known here of whether its VMM can: of this very run of the machine only its host knows. */
  private async requireCapable(op: Op, { hostId, vmm, state }: PlacedInstance): Promise<void> {
    const kept = vmmsOf((await this.hosts.byId(op, hostId))?.parts ?? {}).find(({ kind }) => kind === vmm);
    if (kept?.usable === true && !kept.capabilities.includes('core-dump' satisfies VmmCapability))
      throw conflict('no_core_dump', `Its VMM, ${kept.kind}, cannot dump the memory of guests on its host.`, { state });
  }
}

/** Throws 409 `instance_has_no_host`. */
export const placed = (instance: InstanceEntity): PlacedInstance => {
  const { hostId, state } = instance;
  if (hostId === null) throw conflict('instance_has_no_host', 'It has no host, so there is no core dump.', { state });
  return { ...instance, hostId };
};

/** What its host refused, or that it did not answer. Anything else passes through. */
export const hostProblem = (error: unknown, state: string): unknown => {
  if (error instanceof NodeUnreachableError)
    return new Problem({
      status: 503,
      code: 'host_unreachable',
      detail: 'Its host does not answer at the moment, and only the host has its core dumps. Try again.',
      extra: { retryAfterSeconds: 5 },
      cause: error,
    });
  if (!(error instanceof NodeVerbError)) return error;
  return new Problem({
    status: error.permanent ? 409 : 503,
    code: error.code,
    detail: error.message,
    extra: error.permanent ? { state } : { retryAfterSeconds: 5 },
    cause: error,
  });
};
