import { injectable } from 'inversify';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, Problem, unprocessable } from '../../../../core/errors/problem';
import { NodeCaller, NodeUnreachableError, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import type { InstanceMemory as MemoryShown } from '../../contract/compute.api';
import { leastMemory } from '../../contract/instance-balloon';
import { machineRefusal } from '../../contract/instance-states';
import { instanceMemory } from '../../contract/instance.verbs';
import type { InstanceEntity } from '../instances/instance.entity';
import { InstanceService } from '../instances/instance.service';
import type { Accepted } from '../instances/instance-task';
import { InstanceVerbs, type Of } from '../instances/instance-verbs.service';
import { BalloonInstanceWorkflow } from '../workflows/balloon-instance.workflow';

/** What guests have of their memory, of instances with a balloon. Asked of their hosts each time; nothing of it is stored. */
@injectable()
export class InstanceMemory {
  constructor(
    private readonly nodes: NodeCaller,
    private readonly instances: InstanceService,
    private readonly verbs: InstanceVerbs,
    private readonly ballooning: BalloonInstanceWorkflow,
  ) {}

  /**
   * 409 `no_balloon`, `instance_has_no_host`, what its state says and what else its host refuses; 503 `host_unreachable`,
   * `no_memory_figures`.
   */
  async read(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    requestId: string,
  ): Promise<MemoryShown> {
    const instance = await this.instances.pick(op, access, projectId, ref);
    const { id, hostId, state } = instance;
    refuseWithout(instance);
    if (hostId === null) throw conflict('instance_has_no_host', 'It has no host yet, so it has no memory.', { state });
    const refusal = machineRefusal(state);
    if (refusal) throw conflict(refusal.code, refusal.detail, { state });
    try {
      const outcome = await this.nodes.call(hostId, instanceMemory, { instanceId: id }, { requestId });
      if (!outcome.done) throw new Error('a read is answered at once');
      const { bytes, ...rest } = outcome.result;
      return { memoryBytes: bytes, ...rest };
    } catch (error) {
      throw problemOf(error, state);
    }
  }

  /**
   * Null: all of it. 422 `below_least_memory`, `above_memory`; 409 `no_balloon` and what the state machine says.
   */
  async keep(op: Op, of: Of, wanted: number | null): Promise<Accepted> {
    const instance = await this.instances.lockByRef(op, of.caller.access, of.projectId, of.ref);
    refuseWithout(instance);
    const memoryBytes = wanted ?? instance.memoryBytes;
    const least = leastMemory(instance.memoryBytes);
    if (memoryBytes < least)
      throw unprocessable(
        'body.memoryBytes',
        'below_least_memory',
        `Its guest keeps ${least} bytes at least: a quarter of its memory, and 64 MiB in any case.`,
      );
    if (memoryBytes > instance.memoryBytes)
      throw unprocessable('body.memoryBytes', 'above_memory', `It has ${instance.memoryBytes} bytes: resize it.`);
    return this.verbs.ask(op, of, 'balloon', instance, this.ballooning.definition, { memoryBytes });
  }
}

const refuseWithout = ({ machine, state }: Pick<InstanceEntity, 'machine' | 'state'>): void => {
  if (machine.balloon !== true)
    throw conflict('no_balloon', 'Its machine has no balloon, which an instance gets with its create.', { state });
};

const problemOf = (error: unknown, state: string): unknown => {
  if (error instanceof NodeUnreachableError)
    return new Problem({
      status: 503,
      code: 'host_unreachable',
      detail: 'Its host does not answer at the moment, and only the host sees its memory. Try again.',
      extra: { retryAfterSeconds: 5 },
      cause: error,
    });
  if (!(error instanceof NodeVerbError)) return error;
  if (error.permanent)
    return new Problem({ status: 409, code: error.code, detail: error.message, extra: { state }, cause: error });
  return new Problem({
    status: 503,
    code: 'no_memory_figures',
    detail: `Its host could not tell: ${error.message}`,
    extra: { retryAfterSeconds: 5 },
    cause: error,
  });
};
