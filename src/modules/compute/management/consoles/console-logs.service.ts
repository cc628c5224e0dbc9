import { injectable } from 'inversify';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { conflict, Problem } from '../../../../core/errors/problem';
import { NodeCaller, NodeUnreachableError, NodeVerbError } from '../../../../core/m2m/management/node-caller';
import type { consoleLog } from '../../contract/compute.api';
import { instanceConsoleLog } from '../../contract/instance.verbs';
import { InstanceService } from '../instances/instance.service';

/** What guests wrote on their serial consoles. Their hosts keep it; nothing of it is stored here. */
@injectable()
export class ConsoleLogs {
  constructor(
    private readonly nodes: NodeCaller,
    private readonly instances: InstanceService,
  ) {}

  /** 409 `instance_has_no_host`, `no_console_log`; 503 `host_unreachable`. */
  async read(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    since: string | undefined,
    requestId: string,
  ): Promise<z.input<typeof consoleLog>> {
    const { id, hostId, state } = await this.instances.pick(op, access, projectId, ref);
    if (hostId === null)
      throw conflict('instance_has_no_host', 'It has no host yet, so there is no console.', { state });
    try {
      const outcome = await this.nodes.call(
        hostId,
        instanceConsoleLog,
        { instanceId: id, since: since ?? null },
        { requestId },
      );
      if (outcome.done) return outcome.result;
      throw new Error('a read is answered at once');
    } catch (error) {
      if (error instanceof NodeUnreachableError) {
        throw new Problem({
          status: 503,
          code: 'host_unreachable',
          detail: 'Its host does not answer at the moment, and only the host has what the guest wrote. Try again.',
          extra: { retryAfterSeconds: 5 },
          cause: error,
        });
      }
      if (!(error instanceof NodeVerbError)) throw error;
      const why =
        error.code === 'unknown_verb'
          ? 'The agent on its host is too old for this: it has to be upgraded.'
          : 'Its host has kept nothing of what the guest wrote.';
      throw new Problem({ status: 409, code: 'no_console_log', detail: why, cause: error });
    }
  }
}
