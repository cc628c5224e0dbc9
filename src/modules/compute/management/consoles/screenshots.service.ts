import { injectable } from 'inversify';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, Problem } from '../../../../core/errors/problem';
import { NodeCaller, NodeUnreachableError, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import { machineRefusal } from '../../contract/instance-states';
import { instanceScreenshot } from '../../contract/instance.verbs';
import { InstanceService } from '../instances/instance.service';

/** What the screens of guests show. Asked of their hosts each time; nothing of it is stored. */
@injectable()
export class Screenshots {
  constructor(
    private readonly nodes: NodeCaller,
    private readonly instances: InstanceService,
  ) {}

  /**
   * A PNG. 409 `instance_has_no_host`, what its state says, `no_screen` and what else its host refuses; 503
   * `host_unreachable`, `no_screenshot`.
   */
  async take(op: Op, access: Access, projectId: string | undefined, ref: string, requestId: string): Promise<Buffer> {
    const { id, hostId, state } = await this.instances.pick(op, access, projectId, ref);
    if (hostId === null)
      throw conflict('instance_has_no_host', 'It has no host yet, so there is no screen.', { state });
    const refusal = machineRefusal(state);
    if (refusal) throw conflict(refusal.code, refusal.detail, { state });
    try {
      const outcome = await this.nodes.call(hostId, instanceScreenshot, { instanceId: id }, { requestId });
      if (outcome.done) return Buffer.from(outcome.result.png, 'base64');
      throw new Error('a read is answered at once');
    } catch (error) {
      throw problemOf(error, state);
    }
  }
}

const problemOf = (error: unknown, state: string): unknown => {
  if (error instanceof NodeUnreachableError)
    return new Problem({
      status: 503,
      code: 'host_unreachable',
      detail: 'Its host does not answer at the moment, and only the host sees its screen. Try again.',
      extra: { retryAfterSeconds: 5 },
      cause: error,
    });
  if (!(error instanceof NodeVerbError)) return error;
  if (error.code === 'unknown_verb')
    return new Problem({
      status: 409,
      code: 'no_screen',
      detail: 'The agent on its host is too old for this: it has to be upgraded.',
      extra: { state },
      cause: error,
    });
  if (error.permanent)
    return new Problem({ status: 409, code: error.code, detail: error.message, extra: { state }, cause: error });
  return new Problem({
    status: 503,
    code: 'no_screenshot',
    detail: `Its host could not make one: ${error.message}`,
    extra: { retryAfterSeconds: 5 },
    cause: error,
  });
};
